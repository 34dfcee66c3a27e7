// The Google GenAI SDK, unmodified, in both generations.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as settings from "./settings.js";
import { collect, failingGeminiModel, geminiModel as model, throughGateway } from "./settings.js";

const { ApiError, GoogleGenAI, createPartFromBase64, createPartFromUri } = settings.load("@google/genai");

const connect = (apiKey = settings.key) =>
  new GoogleGenAI({
    apiKey,
    httpOptions: { baseUrl: settings.baseUrl, timeout: settings.timeoutMs, retryOptions: { attempts: 1 } },
  });
const client = connect();
const schema = {
  type: "OBJECT",
  properties: { city: { type: "STRING" }, days: { type: "INTEGER" } },
  required: ["city", "days"],
};
const tools = [{ functionDeclarations: [{ name: "get_weather", description: "Weather of a city", parameters: schema }] }];
const expected = { city: "Paris", days: 1 };
const joined = (chunks) => chunks.map((chunk) => chunk.text ?? "").join("");
const refusedWith = (status, name) => (error) => {
  assert.ok(error instanceof ApiError, `${error}`);
  assert.equal(error.status, status);
  assert.match(error.message, new RegExp(name));
  return true;
};

test("text", async () => {
  const config = { systemInstruction: "Be brief.", temperature: 0.3, maxOutputTokens: 500 };
  const answer = await client.models.generateContent({ model, contents: "hello", config });
  assert.equal(answer.text, "You said: hello");
  assert.equal(answer.candidates[0].finishReason, "STOP");
});

test("usage is exact", async () => {
  const { usageMetadata: usage } = await client.models.generateContent({ model, contents: settings.exactUsage });
  assert.deepEqual([usage.promptTokenCount, usage.cachedContentTokenCount], [120, 64]);
  assert.deepEqual([usage.candidatesTokenCount, usage.thoughtsTokenCount, usage.totalTokenCount], [19, 12, 151]);
});

test("stream", async () => {
  const chunks = await collect(await client.models.generateContentStream({ model, contents: "one two three" }));
  assert.equal(joined(chunks), "You said: one two three");
  assert.equal(chunks.at(-1).candidates[0].finishReason, "STOP");
});

test("unicode survives frames of one byte", async () => {
  const chunks = await collect(await client.models.generateContentStream({ model, contents: settings.unicode }));
  assert.equal(joined(chunks), `You said: ${settings.unicode}`);
});

test("a chat keeps its history", async () => {
  const chat = client.chats.create({ model });
  assert.equal(joined(await collect(await chat.sendMessageStream({ message: "first" }))), "You said: first");
  assert.equal((await chat.sendMessage({ message: "second" })).text, "You said: second");
  assert.deepEqual(chat.getHistory(true).at(-1).role, "model");
});

test("tool round trip", async () => {
  const contents = [{ role: "user", parts: [{ text: "weather?" }] }];
  const asked = await client.models.generateContent({ model, contents, config: { tools } });
  const [call] = asked.functionCalls;
  assert.deepEqual([call.name, call.args], ["get_weather", expected]);
  const functionResponse = { id: call.id, name: call.name, response: { result: "21 degrees" } };
  contents.push(asked.candidates[0].content, { role: "user", parts: [{ functionResponse }] });
  const answer = await client.models.generateContent({ model, contents, config: { tools } });
  assert.equal(answer.text, "The tool answered: 21 degrees");
});

test("streamed tool calls arrive whole", async () => {
  const chunks = await collect(await client.models.generateContentStream({ model, contents: "demo:parallel=2", config: { tools } }));
  const calls = chunks.flatMap((chunk) => chunk.functionCalls ?? []);
  assert.deepEqual(calls.map((call) => call.args), [expected, expected]);
});

for (const [name, part, seen] of [
  ["base64", createPartFromBase64(settings.pngBase64, "image/png"), "image/png of 68 bytes"],
  ["url", createPartFromUri(settings.pngUrl, "image/png"), settings.pngUrl],
]) {
  test(`vision by ${name}`, async () => {
    const answer = await client.models.generateContent({ model, contents: ["look", part] });
    assert.equal(answer.text, `You said: look I see ${seen}.`);
  });
}

test("models", async () => {
  const models = await collect(await client.models.list());
  assert.ok(models.some((entry) => entry.name === `models/${model}`));
  assert.equal((await client.models.get({ model })).name, `models/${model}`);
});

test("token counting", async () => {
  assert.equal((await client.models.countTokens({ model, contents: "demo:in=77" })).totalTokens, 77);
});

test("embeddings", async () => {
  const answer = await client.models.embedContent({ model, contents: "hello", config: { outputDimensionality: 8 } });
  assert.equal(answer.embeddings[0].values.length, 8);
});

test("malformed input is 400", async () => {
  const config = { httpOptions: { extraBody: { noSuchField: 1 } } };
  await assert.rejects(client.models.generateContent({ model, contents: "hello", config }), refusedWith(400, "INVALID_ARGUMENT"));
});

test("an unknown model is 404", async () => {
  const request = client.models.generateContent({ model: settings.missingModel, contents: "hello" });
  await assert.rejects(request, refusedWith(404, "NOT_FOUND"));
  await assert.rejects(client.models.get({ model: settings.missingModel }), refusedWith(404, "NOT_FOUND"));
});

for (const [status, name] of [[429, "RESOURCE_EXHAUSTED"], [500, "INTERNAL"], [503, "UNAVAILABLE"]]) {
  test(`the provider's ${status} keeps its class`, async () => {
    const request = { model: failingGeminiModel, contents: `demo:error=${status}` };
    await assert.rejects(client.models.generateContent(request), refusedWith(status, name));
    await assert.rejects(client.models.generateContentStream(request), refusedWith(status, name));
  });
}

for (const marker of ["demo:inband-error=2", "demo:cut=2"]) {
  test(`a stream with ${marker} does not end well`, async () => {
    const stream = await client.models.generateContentStream({ model: failingGeminiModel, contents: marker });
    await assert.rejects(collect(stream));
  });
}

throughGateway("a wrong key is 401", async () => {
  const request = connect(settings.wrongKey).models.generateContent({ model, contents: "hello" });
  await assert.rejects(request, refusedWith(401, "UNAUTHENTICATED"));
});

for (const name of ["disabledKey", "expiredKey", "limitedKey"]) {
  throughGateway(`${name} is 403`, async () => {
    assert.ok(settings[name], "the run gives such a key");
    const request = connect(settings[name]).models.generateContentStream({ model, contents: "hello" });
    await assert.rejects(request, refusedWith(403, "PERMISSION_DENIED"));
  });
}
