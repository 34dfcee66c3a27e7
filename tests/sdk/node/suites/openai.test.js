// The OpenAI SDK, unmodified, in both generations.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as settings from "./settings.js";
import { chatModel as model, collect, failingChatModel, throughGateway } from "./settings.js";

const { OpenAI, toFile } = settings.load("openai");

const connect = (apiKey = settings.key) =>
  new OpenAI({ baseURL: `${settings.baseUrl}/v1`, apiKey, maxRetries: 0, timeout: settings.timeoutMs });
const client = connect();
const user = (content) => [{ role: "user", content }];
const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};
const weather = { type: "function", function: { name: "get_weather", description: "Weather of a city", parameters, strict: true } };
const expected = { city: "Paris", days: 1 };
const joined = (chunks) => chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");

test("text", async () => {
  const answer = await client.chat.completions.create({ model, messages: user("hello") });
  assert.equal(answer.choices[0].message.content, "You said: hello");
  assert.equal(answer.choices[0].finish_reason, "stop");
});

test("usage is exact", async () => {
  const { usage } = await client.chat.completions.create({ model, messages: user(settings.exactUsage) });
  assert.deepEqual([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens], [120, 31, 151]);
  assert.equal(usage.prompt_tokens_details.cached_tokens, 64);
  assert.equal(usage.completion_tokens_details.reasoning_tokens, 12);
});

test("stream", async () => {
  const chunks = await collect(await client.chat.completions.create({ model, messages: user("one two three"), stream: true }));
  assert.equal(joined(chunks), "You said: one two three");
  assert.ok(chunks.every((chunk) => !chunk.usage), "usage was not asked for");
});

test("stream with usage", async () => {
  const request = { model, messages: user(settings.exactUsage), stream: true, stream_options: { include_usage: true } };
  const chunks = await collect(await client.chat.completions.create(request));
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.equal(chunks.at(-1).usage.total_tokens, 151);
});

test("stream helper", async () => {
  const stream = client.chat.completions.stream({ model, messages: user("demo:chunks=200") });
  let deltas = 0;
  stream.on("content", () => deltas++);
  const final = await stream.finalContent();
  assert.ok(deltas >= 200);
  assert.ok(final.startsWith("You said: "));
});

test("unicode survives frames of one byte", async () => {
  const chunks = await collect(await client.chat.completions.create({ model, messages: user(settings.unicode), stream: true }));
  assert.equal(joined(chunks), `You said: ${settings.unicode}`);
});

test("tool round trip", async () => {
  const messages = user("weather?");
  const asked = await client.chat.completions.create({ model, messages, tools: [weather] });
  const [call] = asked.choices[0].message.tool_calls;
  assert.equal(asked.choices[0].finish_reason, "tool_calls");
  assert.deepEqual(JSON.parse(call.function.arguments), expected);
  messages.push(asked.choices[0].message, { role: "tool", tool_call_id: call.id, content: "21 degrees" });
  const answer = await client.chat.completions.create({ model, messages, tools: [weather] });
  assert.equal(answer.choices[0].message.content, "The tool answered: 21 degrees");
});

test("streamed tool calls are assembled", async () => {
  const stream = client.chat.completions.stream({ model, messages: user("demo:parallel=2"), tools: [weather] });
  const { message, finish_reason: reason } = (await stream.finalChatCompletion()).choices[0];
  assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments)), [expected, expected]);
  assert.equal(reason, "tool_calls");
});

test("the tool runner comes to an end", async () => {
  const run = { type: "function", function: { ...weather.function, function: () => "21 degrees", parse: JSON.parse } };
  const runner = client.chat.completions.runTools({ model, messages: user("weather?"), tools: [run], stream: true });
  assert.equal(await runner.finalContent(), "The tool answered: 21 degrees");
});

for (const [name, url, seen] of [
  ["base64", `data:image/png;base64,${settings.pngBase64}`, "image/png of 68 bytes"],
  ["url", settings.pngUrl, settings.pngUrl],
]) {
  test(`vision by ${name}`, async () => {
    const parts = [{ type: "text", text: "look" }, { type: "image_url", image_url: { url } }];
    const answer = await client.chat.completions.create({ model, messages: user(parts) });
    assert.equal(answer.choices[0].message.content, `You said: look I see ${seen}.`);
  });
}

test("models", async () => {
  const models = await collect(await client.models.list());
  assert.ok(models.some((entry) => entry.id === model));
  assert.equal((await client.models.retrieve(model)).id, model);
});

test("completions", async () => {
  const chunks = await collect(await client.completions.create({ model, prompt: "hello", stream: true }));
  assert.equal(chunks.map((chunk) => chunk.choices[0].text).join(""), "You said: hello");
});

test("embeddings", async () => {
  const byDefault = await client.embeddings.create({ model, input: ["a", "b"], dimensions: 8 });
  const asFloats = await client.embeddings.create({ model, input: ["a", "b"], dimensions: 8, encoding_format: "float" });
  assert.equal(byDefault.data.length, 2);
  byDefault.data[1].embedding.forEach((value, at) => assert.ok(Math.abs(value - asFloats.data[1].embedding[at]) < 1e-6));
});

test("images", async () => {
  const made = await client.images.generate({ model, prompt: "a dot", n: 2 });
  assert.equal(made.data.length, 2);
  const image = await toFile(Buffer.from(settings.pngBase64, "base64"), "dot.png", { type: "image/png" });
  const edited = await client.images.edit({ model, image, prompt: "bluer" });
  assert.equal(edited.data[0].revised_prompt, "bluer");
});

test("moderation", async () => {
  const { results } = await client.moderations.create({ model, input: ["fine", "demo:flag"] });
  assert.deepEqual(results.map((result) => result.flagged), [false, true]);
});

test("speech", async () => {
  const sound = await client.audio.speech.create({ model, voice: "alloy", input: "hi", response_format: "wav" });
  assert.equal(Buffer.from(await sound.arrayBuffer()).subarray(0, 4).toString(), "RIFF");
});

test("transcription", async () => {
  const file = await toFile(Buffer.alloc(100), "note.wav", { type: "audio/wav" });
  assert.equal((await client.audio.transcriptions.create({ model, file })).text, "You sent note.wav: audio/wav of 100 bytes.");
});

test("responses", async () => {
  const answer = await client.responses.create({ model, input: settings.exactUsage });
  assert.equal(answer.output_text, `You said: ${settings.exactUsage}`);
  assert.deepEqual([answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.total_tokens], [120, 31, 151]);
});

test("responses stream and tool round trip", async () => {
  const tools = [{ type: "function", ...weather.function }];
  const input = [{ role: "user", content: "weather?" }];
  const asked = await client.responses.stream({ model, input, tools }).finalResponse();
  const call = asked.output.find((item) => item.type === "function_call");
  assert.deepEqual(JSON.parse(call.arguments), expected);
  input.push(
    { type: "function_call", call_id: call.call_id, name: call.name, arguments: call.arguments },
    { type: "function_call_output", call_id: call.call_id, output: "21 degrees" },
  );
  const stream = client.responses.stream({ model, input, tools });
  let text = "";
  stream.on("response.output_text.delta", (event) => (text += event.delta));
  await stream.finalResponse();
  assert.equal(text, "The tool answered: 21 degrees");
});

test("malformed input is 400", async () => {
  const request = { model, messages: user("hello"), temperature: "hot" };
  await assert.rejects(client.chat.completions.create(request), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.status, error.type, error.param], [400, "invalid_request_error", "temperature"]);
    return true;
  });
});

test("an unknown model is 404", async () => {
  const request = client.chat.completions.create({ model: settings.missingModel, messages: user("hello") });
  await assert.rejects(request, (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found");
  await assert.rejects(client.models.retrieve(settings.missingModel), OpenAI.NotFoundError);
});

test("an unknown path is 404", async () => {
  await assert.rejects(client.post("/nowhere", { body: {} }), OpenAI.NotFoundError);
});

for (const [status, kind] of [[429, OpenAI.RateLimitError], [500, OpenAI.InternalServerError]]) {
  for (const stream of [false, true]) {
    test(`the provider's ${status} keeps its class, ${stream ? "streamed" : "whole"}`, async () => {
      const request = { model: failingChatModel, messages: user(`demo:error=${status}`), stream };
      await assert.rejects(client.chat.completions.create(request), (error) => error instanceof kind && error.status === status);
    });
  }
}

for (const marker of ["demo:inband-error=3", "demo:cut=3"]) {
  test(`a stream with ${marker} does not end well`, async () => {
    const stream = await client.chat.completions.create({ model: failingChatModel, messages: user(marker), stream: true });
    await assert.rejects(collect(stream));
  });
}

throughGateway("a wrong key is 401", async () => {
  const request = connect(settings.wrongKey).chat.completions.create({ model, messages: user("hello") });
  await assert.rejects(request, (error) => error instanceof OpenAI.AuthenticationError && error.type === "authentication_error");
});

for (const name of ["disabledKey", "expiredKey", "limitedKey"]) {
  throughGateway(`${name} is 403`, async () => {
    assert.ok(settings[name], "the run gives such a key");
    const request = connect(settings[name]).chat.completions.create({ model, messages: user("hello"), stream: true });
    await assert.rejects(request, (error) => error instanceof OpenAI.PermissionDeniedError && error.type === "permission_error");
  });
}
