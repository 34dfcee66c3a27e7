// Each vendor's SDK behind the same few words, so that one test runs with every one of them. A speaker keeps the history in the
// SDK's own objects and sends back exactly what it received.
import { chat } from "./chat.js";
import { gemini } from "./gemini.js";
import { messages } from "./messages.js";
import { responses } from "./responses.js";

export { chat, gemini, messages, responses };
export const all = [chat, responses, messages, gemini];

export const weather = {
  name: "get_weather",
  schema: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city", "days"],
    additionalProperties: false,
  },
};
