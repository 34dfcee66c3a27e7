// The Anthropic SDK, unmodified, in both generations.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as settings from "./settings.js";
import { collect, failingMessagesModel, messagesModel as model, throughGateway } from "./settings.js";

const { Anthropic } = settings.load("@anthropic-ai/sdk");
const newest = !settings.load("@anthropic-ai/sdk/version").VERSION.startsWith("0.");

const connect = (apiKey = settings.key) =>
  new Anthropic({ baseURL: settings.baseUrl, apiKey, maxRetries: 0, timeout: settings.timeoutMs });
const client = connect();
const ask = (content, more = {}) => ({ model, max_tokens: 1024, messages: [{ role: "user", content }], ...more });
const weather = {
  name: "get_weather",
  description: "Weather of a city",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city", "days"],
  },
};
const expected = { city: "Paris", days: 1 };

test("text", async () => {
  const answer = await client.messages.create(ask("hello", { system: "Be brief." }));
  assert.equal(answer.content[0].text, "You said: hello");
  assert.equal(answer.stop_reason, "end_turn");
});

test("usage is exact", async () => {
  const { usage } = await client.messages.create(ask(`${settings.exactUsage} demo:cache-write=6`));
  assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens], [50, 64, 6]);
  assert.equal(usage.output_tokens, 31);
});

test("stream", async () => {
  const events = await collect(await client.messages.create(ask("one two three", { stream: true })));
  const deltas = events.filter((event) => event.type === "content_block_delta").map((event) => event.delta.text);
  assert.equal(deltas.join(""), "You said: one two three");
  assert.equal(events.at(-1).type, "message_stop");
});

test("stream helper", async () => {
  const stream = client.messages.stream(ask("demo:chunks=200", { max_tokens: 4096 }));
  let deltas = 0;
  stream.on("text", () => deltas++);
  assert.ok((await stream.finalText()).startsWith("You said: "));
  assert.ok(deltas >= 200);
});

test("unicode survives frames of one byte", async () => {
  assert.equal(await client.messages.stream(ask(settings.unicode)).finalText(), `You said: ${settings.unicode}`);
});

test("thinking is streamed with its signature", async () => {
  const thinking = { type: "enabled", budget_tokens: 2048 };
  const final = await client.messages.stream(ask("hm", { max_tokens: 4096, thinking })).finalMessage();
  assert.equal(final.content[0].type, "thinking");
  assert.ok(final.content[0].signature);
  assert.equal(final.content[1].text, "You said: hm");
});

test("tool round trip", async () => {
  const request = ask("weather?", { tools: [weather] });
  const asked = await client.messages.create(request);
  assert.equal(asked.stop_reason, "tool_use");
  assert.deepEqual(asked.content[0].input, expected);
  const result = { type: "tool_result", tool_use_id: asked.content[0].id, content: "21 degrees" };
  request.messages.push({ role: "assistant", content: asked.content }, { role: "user", content: [result] });
  assert.equal((await client.messages.create(request)).content[0].text, "The tool answered: 21 degrees");
});

test("streamed tool calls are assembled", async () => {
  const final = await client.messages.stream(ask("demo:parallel=2", { tools: [weather] })).finalMessage();
  assert.deepEqual(final.content.map((block) => block.input), [expected, expected]);
  assert.equal(final.stop_reason, "tool_use");
});

test("the tool runner comes to an end", async () => {
  const tool = { ...weather, run: ({ city }) => `sunny in ${city}`, parse: (input) => input };
  const final = await client.beta.messages.toolRunner(ask("weather?", { tools: [tool] }));
  assert.equal(final.content[0].text, "The tool answered: sunny in Paris");
});

for (const [name, source, seen] of [
  ["base64", { type: "base64", media_type: "image/png", data: settings.pngBase64 }, "image/png of 68 bytes"],
  ["url", { type: "url", url: settings.pngUrl }, settings.pngUrl],
]) {
  test(`vision by ${name}`, async () => {
    const parts = [{ type: "image", source }, { type: "text", text: "look" }];
    assert.equal((await client.messages.create(ask(parts))).content[0].text, `You said: look I see ${seen}.`);
  });
}

test("models", async () => {
  const models = await collect(await client.models.list());
  assert.ok(models.some((entry) => entry.id === model));
  assert.equal((await client.models.retrieve(model)).id, model);
});

test("token counting", async () => {
  const messages = [{ role: "user", content: "demo:in=77" }];
  assert.equal((await client.messages.countTokens({ model, messages, tools: [weather] })).input_tokens, 77);
});

test("beta messages", async () => {
  const answer = await client.beta.messages.create(ask("hello", { betas: ["context-management-2025-06-27"] }));
  assert.equal(answer.content[0].text, "You said: hello");
});

test("sampling parameters depend on the version", async () => {
  const request = client.messages.create(ask("hello", { temperature: 0.5 }));
  if (newest) await assert.rejects(request, Anthropic.BadRequestError);
  else assert.equal((await request).content[0].text, "You said: hello");
});

test("malformed input is 400", async () => {
  await assert.rejects(client.messages.create(ask("hello", { no_such_field: true })), (error) => {
    assert.ok(error instanceof Anthropic.BadRequestError);
    assert.equal(error.error.error.type, "invalid_request_error");
    assert.ok(error.requestID);
    return true;
  });
});

test("an unknown model is 404", async () => {
  await assert.rejects(client.messages.create(ask("hello", { model: settings.missingModel })), Anthropic.NotFoundError);
  await assert.rejects(client.models.retrieve(settings.missingModel), Anthropic.NotFoundError);
});

for (const [status, kind, type] of [
  [429, Anthropic.RateLimitError, "rate_limit_error"],
  [500, Anthropic.InternalServerError, "api_error"],
  [529, Anthropic.APIError, "overloaded_error"],
]) {
  for (const stream of [false, true]) {
    test(`the provider's ${status} keeps its class, ${stream ? "streamed" : "whole"}`, async () => {
      const request = client.messages.create(ask(`demo:error=${status}`, { model: failingMessagesModel, stream }));
      await assert.rejects(request, (error) => {
        assert.ok(error instanceof kind);
        assert.deepEqual([error.status, error.error.error.type], [status, type]);
        return true;
      });
    });
  }
}

for (const marker of ["demo:inband-error=5", "demo:cut=5"]) {
  test(`a stream with ${marker} does not end well`, async () => {
    const stream = client.messages.stream(ask(marker, { model: failingMessagesModel }));
    await assert.rejects(stream.finalMessage(), Anthropic.AnthropicError);
  });
}

throughGateway("a wrong key is 401", async () => {
  await assert.rejects(connect(settings.wrongKey).messages.create(ask("hello")), Anthropic.AuthenticationError);
});

for (const name of ["disabledKey", "expiredKey", "limitedKey"]) {
  throughGateway(`${name} is 403`, async () => {
    assert.ok(settings[name], "the run gives such a key");
    const request = connect(settings[name]).messages.create(ask("hello", { stream: true }));
    await assert.rejects(request, (error) => {
      assert.ok(error instanceof Anthropic.PermissionDeniedError);
      assert.equal(error.error.error.type, "permission_error");
      return true;
    });
  });
}
