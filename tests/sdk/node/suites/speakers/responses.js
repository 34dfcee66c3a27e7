// The OpenAI SDK on responses.
import * as kinds from "../kinds.js";
import { client, errors } from "./chat.js";

export const responses = {
  name: "responses",
  errors,
  hasStop: false,
  direct: (kind) => kind === kinds.openai,
  shows: () => true,
  start: () => [],

  say(history, text, picture) {
    const parts = [{ type: "input_text", text }, { type: "input_image", image_url: picture, detail: "auto" }];
    history.push({ role: "user", content: picture ? parts : text });
  },

  results(history, answer, texts) {
    answer.calls.forEach((call, at) => history.push({ type: "function_call_output", call_id: call.id, output: texts[at] }));
  },

  async ask(kind, history, options = {}) {
    const request = { model: options.model ?? kind.model, input: history, store: false, ...asked(options) };
    if (options.system?.length === 1) [request.instructions] = options.system;
    else if (options.system) request.input = [...options.system.map((content) => ({ role: "system", content })), ...history];
    const response = options.stream ? await streamed(request) : await client.responses.create(request);
    history.push(...response.output.map(replayable));
    return read(response);
  },

  status: (error) => error.status,

  async *begin(kind, text) {
    for await (const event of await client.responses.create({ model: kind.failing, input: text, stream: true })) {
      // A failed response is an event like any other for this SDK.
      if (event.type === "response.failed" || event.type === "error") throw new Error("the response failed");
      yield event;
    }
  },
};

async function streamed(request) {
  let last;
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    if (event.type === "response.completed" || event.type === "response.incomplete") last = event.response;
  }
  return last;
}

function asked({ tools, choice, parallel = true, schema, limit, thinks }) {
  const words = { auto: "auto", any: "required", none: "none" };
  const flat = (tool) => ({ type: "function", name: tool.name, description: "A tool", parameters: tool.schema, strict: false });
  return {
    ...(tools && { tools: tools.map(flat) }),
    ...(choice && { tool_choice: words[choice] ?? { type: "function", name: choice } }),
    ...(!parallel && { parallel_tool_calls: false }),
    ...(schema && { text: { format: { type: "json_schema", name: "answer", schema, strict: true } } }),
    ...(limit && { max_output_tokens: limit }),
    ...(thinks && { reasoning: { effort: "low", summary: "auto" }, include: ["reasoning.encrypted_content"] }),
  };
}

function read(response) {
  const of = (type) => response.output.filter((item) => item.type === type);
  const calls = of("function_call").map((item) => ({ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }));
  const texts = of("message").flatMap((item) => item.content.filter((part) => part.type === "output_text").map((part) => part.text));
  const { usage } = response;
  return {
    text: texts.join(""),
    thoughts: of("reasoning").flatMap((item) => item.summary.map((part) => part.text)).join(""),
    calls,
    finish: response.status === "incomplete" ? { max_output_tokens: "length" }[response.incomplete_details.reason] : calls.length ? "tools" : "stop",
    usage: {
      input: usage.input_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
  };
}

// An item without what the SDK's own parsing added.
function replayable({ parsed_arguments, ...item }) {
  return item;
}
