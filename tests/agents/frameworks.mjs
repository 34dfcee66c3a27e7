// The Vercel AI SDK with each of its providers, on models of the other shapes: text, a stream, a tool, an object.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import assert from "node:assert/strict";
import { z } from "zod";

const apiKey = process.env.SVC_AGENTS_KEY;
const base = process.env.SVC_AGENTS_URL;
const openai = createOpenAI({ apiKey, baseURL: `${base}/v1` });
const anthropic = createAnthropic({ apiKey, baseURL: `${base}/v1` });
const google = createGoogleGenerativeAI({ apiKey, baseURL: `${base}/v1beta` });

const clients = {
  responses: [(name) => openai(name), ["on-chat", "on-messages", "on-generate"]],
  chat: [(name) => openai.chat(name), ["on-messages", "on-generate"]],
  messages: [(name) => anthropic(name), ["on-chat", "on-generate"]],
  generate: [(name) => google(name), ["on-chat", "on-messages"]],
};

for (const [client, [make, models]] of Object.entries(clients)) {
  for (const name of models) {
    const model = make(name);
    const plain = await generateText({ model, prompt: "Hello" });
    assert.match(plain.text, /Hello/, `${client} on ${name}`);
    assert.ok(plain.usage.outputTokens > 0, `${client} on ${name}: usage`);
    let streamed = "";
    for await (const piece of streamText({ model, prompt: "Hello", onError: ({ error }) => assert.fail(error) }).textStream) streamed += piece;
    assert.match(streamed, /Hello/, `${client} on ${name}, streamed`);
    let asked = 0;
    const weather = tool({
      description: "The weather in a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async () => { asked += 1; return { sky: "clear" }; },
    });
    const steps = await generateText({ model, prompt: "The weather in Paris?", tools: { weather }, stopWhen: stepCountIs(3) });
    assert.ok(asked > 0 && steps.text.length > 0, `${client} on ${name}: tools`);
    const { object } = await generateObject({ model, prompt: "A person", schema: z.object({ name: z.string(), age: z.number() }) });
    assert.equal(typeof object.name, "string", `${client} on ${name}: object`);
    console.log(`ai sdk: ${client} on ${name}`);
  }
}
