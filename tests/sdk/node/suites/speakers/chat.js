// The OpenAI SDK on chat completions.
import * as kinds from "../kinds.js";
import * as settings from "../settings.js";

const { OpenAI } = settings.load("openai");

export const client = new OpenAI({ baseURL: `${settings.baseUrl}/v1`, apiKey: settings.key, maxRetries: 0, timeout: settings.timeoutMs });
export const errors = {
  400: OpenAI.BadRequestError,
  404: OpenAI.NotFoundError,
  429: OpenAI.RateLimitError,
  500: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
};
const finishes = { stop: "stop", length: "length", tool_calls: "tools", content_filter: "filter" };

export const chat = {
  name: "chat",
  errors,
  hasStop: true,
  direct: (kind) => kind === kinds.openai,
  shows: (kind) => kind.showsThoughts,
  start: () => [],

  say(history, text, picture) {
    const parts = [{ type: "text", text }, { type: "image_url", image_url: { url: picture } }];
    history.push({ role: "user", content: picture ? parts : text });
  },

  results(history, answer, texts) {
    answer.calls.forEach((call, at) => history.push({ role: "tool", tool_call_id: call.id, content: texts[at] }));
  },

  async ask(kind, history, options = {}) {
    const request = { model: options.model ?? kind.model, messages: history, ...asked(options) };
    if (options.system) {
      const content = options.system.length === 1 ? options.system[0] : options.system.map((text) => ({ type: "text", text }));
      request.messages = [{ role: "system", content }, ...history];
    }
    const completion = options.stream ? await streamed(request) : await client.chat.completions.create(request);
    const answer = read(completion);
    history.push(replayable(completion.choices[0].message));
    return answer;
  },

  status: (error) => error.status,
  begin: (kind, text) =>
    client.chat.completions.create({ model: kind.failing, messages: [{ role: "user", content: text }], stream: true }),
};

// Of fields it does not know the SDK keeps the last piece, so that callers put the reasoning together.
async function streamed(request) {
  const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
  let reasoning = "";
  stream.on("chunk", ({ choices: [choice] }) => (reasoning += choice?.delta.reasoning_content ?? ""));
  const completion = await stream.finalChatCompletion();
  if (reasoning) completion.choices[0].message.reasoning_content = reasoning;
  return completion;
}

function asked({ tools, choice, parallel = true, schema, stop, limit, thinks }) {
  const words = { auto: "auto", any: "required", none: "none" };
  const named = (tool) => ({ name: tool.name, description: "A tool", parameters: tool.schema });
  return {
    ...(tools && { tools: tools.map((tool) => ({ type: "function", function: named(tool) })) }),
    ...(choice && { tool_choice: words[choice] ?? { type: "function", function: { name: choice } } }),
    ...(!parallel && { parallel_tool_calls: false }),
    ...(schema && { response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } } }),
    ...(stop && { stop: [stop] }),
    ...(limit && { max_completion_tokens: limit }),
    ...(thinks && { reasoning_effort: "low" }),
  };
}

function read({ choices: [{ message, finish_reason }], usage }) {
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: JSON.parse(text) }));
  return {
    text: message.content ?? "",
    thoughts: message.reasoning_content ?? "",
    calls,
    finish: finishes[finish_reason],
    usage: {
      input: usage.prompt_tokens,
      cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage.completion_tokens,
      reasoning: usage.completion_tokens_details?.reasoning_tokens,
    },
  };
}

// The message without what the SDK's own parsing added, which the vendor refuses.
function replayable({ parsed, ...message }) {
  const plain = ({ id, type, function: { name, arguments: text }, ...more }) => {
    delete more.index;
    return { id, type, function: { name, arguments: text }, ...more };
  };
  return { ...message, ...(message.tool_calls && { tool_calls: message.tool_calls.map(plain) }) };
}
