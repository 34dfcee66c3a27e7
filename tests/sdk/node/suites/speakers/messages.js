// The Anthropic SDK.
import * as kinds from "../kinds.js";
import * as settings from "../settings.js";

const { Anthropic } = settings.load("@anthropic-ai/sdk");

const client = new Anthropic({ baseURL: settings.baseUrl, apiKey: settings.key, maxRetries: 0, timeout: settings.timeoutMs });
const finishes = { end_turn: "stop", stop_sequence: "stop", max_tokens: "length", tool_use: "tools", refusal: "filter" };
const limitTokens = 4096;
const budgetTokens = 1024;

export const messages = {
  name: "messages",
  errors: {
    400: Anthropic.BadRequestError,
    404: Anthropic.NotFoundError,
    429: Anthropic.RateLimitError,
    500: Anthropic.InternalServerError,
    503: Anthropic.APIError,
  },
  hasStop: true,
  direct: (kind) => kind === kinds.anthropic,
  shows: (kind) => kind.showsThoughts,
  start: () => [],

  say(history, text, picture) {
    const parts = [{ type: "text", text }, { type: "image", source: picture && source(picture) }];
    history.push({ role: "user", content: picture ? parts : text });
  },

  results(history, answer, texts) {
    const result = (call, at) => ({
      type: "tool_result",
      tool_use_id: call.id,
      content: texts[at].replace(/^Error: /, ""),
      ...(texts[at].startsWith("Error: ") && { is_error: true }),
    });
    history.push({ role: "user", content: answer.calls.map(result) });
  },

  async ask(kind, history, options = {}) {
    const request = { model: options.model ?? kind.model, messages: history, ...asked(kind, options) };
    if (options.system) {
      const blocks = options.system.map((text) => ({ type: "text", text, cache_control: { type: "ephemeral" } }));
      request.system = options.system.length === 1 ? options.system[0] : blocks;
    }
    const message = options.stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
    history.push({ role: "assistant", content: message.content });
    return read(message);
  },

  count: async (kind, text) =>
    (await client.messages.countTokens({ model: kind.model, messages: [{ role: "user", content: text }] })).input_tokens,
  status: (error) => error.status,
  begin: (kind, text) =>
    client.messages.create({ model: kind.failing, max_tokens: limitTokens, messages: [{ role: "user", content: text }], stream: true }),
};

function source(picture) {
  if (!picture.startsWith("data:")) return { type: "url", url: picture };
  const [media_type, data] = picture.slice("data:".length).split(";base64,");
  return { type: "base64", media_type, data };
}

function asked(kind, { tools, choice, parallel = true, schema, stop, limit, thinks }) {
  const words = { auto: { type: "auto" }, any: { type: "any" }, none: { type: "none" } };
  const chosen = choice && (words[choice] ?? { type: "tool", name: choice });
  const single = !parallel && { type: "auto", ...chosen, disable_parallel_tool_use: true };
  const thinking = kind.adaptive ? { type: "adaptive", display: "summarized" } : { type: "enabled", budget_tokens: budgetTokens };
  return {
    max_tokens: limit ?? limitTokens,
    ...(tools && { tools: tools.map(({ name, schema }) => ({ name, description: "A tool", input_schema: schema })) }),
    ...((chosen || single) && { tool_choice: single || chosen }),
    ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
    ...(stop && { stop_sequences: [stop] }),
    ...(thinks && { thinking }),
  };
}

function read({ content, stop_reason, usage }) {
  const of = (type) => content.filter((block) => block.type === type);
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: of("text").map((block) => block.text).join(""),
    thoughts: of("thinking").map((block) => block.thinking).join(""),
    calls: of("tool_use").map(({ id, name, input }) => ({ id, name, arguments: input })),
    finish: finishes[stop_reason],
    usage: { input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0), cached, output: usage.output_tokens },
  };
}
