// The Google GenAI SDK.
import * as kinds from "../kinds.js";
import * as settings from "../settings.js";
import { collect } from "../settings.js";

const { ApiError, GoogleGenAI, createPartFromBase64, createPartFromUri } = settings.load("@google/genai");

const client = new GoogleGenAI({
  apiKey: settings.key,
  httpOptions: { baseUrl: settings.baseUrl, timeout: settings.timeoutMs, retryOptions: { attempts: 1 } },
});
const finishes = { STOP: "stop", MAX_TOKENS: "length", SAFETY: "filter" };
const budgetTokens = 1024;

export const gemini = {
  name: "gemini",
  errors: { 400: ApiError, 404: ApiError, 429: ApiError, 500: ApiError, 503: ApiError },
  hasStop: true,
  direct: (kind) => kind === kinds.gemini || kind === kinds.gemini3,
  shows: (kind) => kind.showsThoughts,
  start: () => [],

  say(history, text, picture) {
    const parts = [{ text }];
    if (picture?.startsWith("data:")) {
      const [type, data] = picture.slice("data:".length).split(";base64,");
      parts.push(createPartFromBase64(data, type));
    } else if (picture) parts.push(createPartFromUri(picture, "image/png"));
    history.push({ role: "user", parts });
  },

  results(history, answer, texts) {
    const response = (text) => (text.startsWith("Error: ") ? { error: text.slice("Error: ".length) } : { result: text });
    const part = ({ id, name }, at) => ({ functionResponse: { ...(id && { id }), name, response: response(texts[at]) } });
    history.push({ role: "user", parts: answer.calls.map(part) });
  },

  async ask(kind, history, options = {}) {
    const config = asked(options);
    if (options.system) config.systemInstruction = options.system.length === 1 ? options.system[0] : options.system;
    const request = { model: options.model ?? kind.model, contents: history, config };
    const chunks = options.stream
      ? await collect(await client.models.generateContentStream(request))
      : [await client.models.generateContent(request)];
    const parts = chunks.flatMap((chunk) => chunk.candidates[0].content.parts);
    history.push({ role: "model", parts });
    return read(parts, chunks.at(-1));
  },

  count: async (kind, text) => (await client.models.countTokens({ model: kind.model, contents: text })).totalTokens,
  status: (error) => error.status,
  begin: (kind, text) => client.models.generateContentStream({ model: kind.failing, contents: text }),
};

function asked({ tools, choice, schema, stop, limit, thinks }) {
  const modes = { auto: "AUTO", any: "ANY", none: "NONE" };
  const calling = { mode: modes[choice] ?? "ANY", ...(!modes[choice] && { allowedFunctionNames: [choice] }) };
  const declared = ({ name, schema }) => ({ name, description: "A tool", parametersJsonSchema: schema });
  return {
    ...(tools && { tools: [{ functionDeclarations: tools.map(declared) }] }),
    ...(choice && { toolConfig: { functionCallingConfig: calling } }),
    ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
    ...(stop && { stopSequences: [stop] }),
    ...(limit && { maxOutputTokens: limit }),
    ...(thinks && { thinkingConfig: { includeThoughts: true, thinkingBudget: budgetTokens } }),
  };
}

function read(parts, { candidates: [{ finishReason }], usageMetadata: usage }) {
  const calls = parts.filter((part) => part.functionCall).map(({ functionCall: { id, name, args = {} } }) => ({ id, name, arguments: args }));
  const text = (thought) => parts.filter((part) => part.text && Boolean(part.thought) === thought).map((part) => part.text).join("");
  const finish = finishes[finishReason];
  return {
    text: text(false),
    thoughts: text(true),
    calls,
    finish: calls.length && finish === "stop" ? "tools" : finish,
    usage: {
      input: usage.promptTokenCount,
      cached: usage.cachedContentTokenCount ?? 0,
      output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
      reasoning: usage.thoughtsTokenCount ?? 0,
    },
  };
}
