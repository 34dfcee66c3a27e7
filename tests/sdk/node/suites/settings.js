// Where the suites connect and what they ask for, all from the environment.
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

const environment = process.env;

export const baseUrl = need("SVC_SDK_BASE_URL").replace(/\/$/, "");
export const key = need("SVC_SDK_KEY");
export const disabledKey = environment.SVC_SDK_DISABLED_KEY;
export const expiredKey = environment.SVC_SDK_EXPIRED_KEY;
export const limitedKey = environment.SVC_SDK_LIMITED_KEY;
export const wrongKey = "sk-this-key-does-not-exist";

export const chatModel = environment.SVC_SDK_CHAT_MODEL ?? "demo-chat";
export const messagesModel = environment.SVC_SDK_MESSAGES_MODEL ?? "demo-messages";
export const geminiModel = environment.SVC_SDK_GEMINI_MODEL ?? "demo-gemini";
// On providers of their own, so that asked-for failures do not count against the others.
export const failingChatModel = environment.SVC_SDK_FAILING_CHAT_MODEL ?? "demo-chat-failing";
export const failingMessagesModel = environment.SVC_SDK_FAILING_MESSAGES_MODEL ?? "demo-messages-failing";
export const failingGeminiModel = environment.SVC_SDK_FAILING_GEMINI_MODEL ?? "demo-gemini-failing";
export const missingModel = "missing-model";

export const timeoutMs = 20_000;
export const pngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
export const pngUrl = "https://example.com/picture.png";
// 120 tokens in, 64 of them from a cache; 31 out, 12 of them reasoning.
export const exactUsage = "count demo:in=120 demo:cached=64 demo:out=31 demo:reasoning=12";
export const unicode = "żółw 🐢 日本 demo:split=1";

// The packages of one generation live in their own folder; the suites are shared.
const packages = createRequire(join(need("SVC_SDK_PACKAGES"), "package.json"));
export const load = (name) => packages(name);

export const throughTheGateway = environment.SVC_SDK_GATEWAY === "1";
/** A test that means something only through the gateway: keys and roles exist only there. */
export const throughGateway =
  throughTheGateway ? test : (name, body) => test(name, { skip: "needs the gateway's keys" }, body);

export async function collect(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

function need(name) {
  const value = environment[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
