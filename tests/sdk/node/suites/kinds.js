// The providers of the matrix: one model of every kind, and what its vendor's models show and accept.
import { throughTheGateway } from "./settings.js";

const chat = "chat_completions";
const messages = "messages";
const generate = "generate_content";
export const shapes = { chat, messages, generate };

const kind = (model, shape, more = {}) => ({
  model,
  shape,
  failing: throughTheGateway ? `${model}-failing` : model,
  // Whether an answer says what the model thought; the chat vendor's own only counts it.
  showsThoughts: true,
  // Whether the model can be made to call a tool.
  forcedTools: true,
  // Whether the vendor counts what it wrote to a cache.
  countsWrites: shape !== generate,
  // Whether the model decides itself how much it thinks.
  adaptive: false,
  ...more,
});

export const openai = kind("on-openai", chat, { showsThoughts: false });
export const compatible = kind("on-compatible", chat);
export const azure = kind("on-azure", chat, { showsThoughts: false });
export const azureV1 = kind("on-azure-v1", chat, { showsThoughts: false });
export const anthropic = kind("on-anthropic", messages);
export const anthropicNew = kind("on-anthropic-new", messages, { forcedTools: false, adaptive: true });
export const bedrock = kind("on-bedrock", messages);
export const gemini = kind("on-gemini", generate);
export const gemini3 = kind("on-gemini-3", generate);
export const vertex = kind("on-vertex", generate);
export const vertexClaude = kind("on-vertex-claude", messages);

export const all = [openai, compatible, azure, azureV1, anthropic, anthropicNew, bedrock, gemini, gemini3, vertex, vertexClaude];
// One of each where a failing twin is declared.
export const fallible = [openai, azure, anthropic, bedrock, gemini, vertex, vertexClaude];
// Pairwise unlike in what they sign and how they want it back.
export const unlike = [openai, compatible, anthropic, bedrock, gemini, gemini3, vertex];

/** Every speaker on every kind; without the gateway only on those of its own shape. */
export const cells = (speakers, kinds = all) =>
  speakers.flatMap((speaker) =>
    kinds.filter((kind) => throughTheGateway || speaker.direct(kind)).map((kind) => ({ speaker, kind, cell: `${speaker.name} ${kind.model}` })),
  );
