// Every SDK on every kind of provider: the same conversation has the same answers.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as kinds from "./kinds.js";
import * as settings from "./settings.js";
import * as speakers from "./speakers/index.js";
import { weather } from "./speakers/index.js";

const thought = "The user wants an answer, so let me think of one.";
const place = { city: "Paris", days: 1 };
const ways = [false, true];
const way = (stream) => (stream ? "streamed" : "whole");

const ask = async ({ speaker, kind }, text, options = {}) => {
  const history = speaker.start();
  speaker.say(history, text, options.picture);
  return speaker.ask(kind, history, options);
};

for (const cell of kinds.cells(speakers.all)) {
  const { speaker, kind } = cell;
  const each = (name, body) => test(`${cell.cell}: ${name}`, body);

  for (const stream of ways) {
    each(`text, ${way(stream)}`, async () => {
      const answer = await ask(cell, "hello there", { stream });
      assert.deepEqual([answer.text, answer.finish, answer.calls], ["You said: hello there", "stop", []]);
      assert.ok(answer.usage.input > 0 && answer.usage.output > 0);
    });

    each(`a tool round trip, ${way(stream)}`, async () => {
      const history = speaker.start();
      const options = { tools: [weather], stream };
      speaker.say(history, "weather demo:parallel=2");
      const asked = await speaker.ask(kind, history, options);
      assert.deepEqual(asked.calls.map((call) => [call.name, call.arguments]), [["get_weather", place], ["get_weather", place]]);
      assert.equal(asked.finish, "tools");
      speaker.results(history, asked, ["21 degrees", "Error: no such city"]);
      assert.equal((await speaker.ask(kind, history, options)).text, "The tool answered: 21 degrees, Error: no such city");
    });

    each(`structured output, ${way(stream)}`, async () => {
      const answer = await ask(cell, "where?", { schema: weather.schema, stream });
      assert.deepEqual(JSON.parse(answer.text), place);
      assert.equal(answer.finish, "stop");
    });

    each(`stop texts and limits, ${way(stream)}`, async () => {
      if (speaker.hasStop) {
        const stopped = await ask(cell, "one two three", { stop: "two", stream });
        assert.deepEqual([stopped.text.trimEnd(), stopped.finish], ["You said: one", "stop"]);
      }
      const cut = await ask(cell, "x".repeat(100), { limit: 16, stream });
      assert.deepEqual([cut.text, cut.finish], [`You said: ${"x".repeat(54)}`, "length"]);
    });

    each(`reasoning before and after tools, ${way(stream)}`, async () => {
      const history = speaker.start();
      const options = { tools: [weather], thinks: true, stream };
      speaker.say(history, "weather demo:steps=2");
      for (const text of ["cold", "warm"]) {
        const asked = await speaker.ask(kind, history, options);
        assert.equal(asked.calls.length, 1);
        if (speaker.shows(kind) && kind.showsThoughts) assert.equal(asked.thoughts, thought);
        speaker.results(history, asked, [text]);
      }
      assert.equal((await speaker.ask(kind, history, options)).text, "The tool answered: warm");
    });

    each(`usage is exact, ${way(stream)}`, async () => {
      const { usage } = await ask(cell, "demo:in=120 demo:cached=64 demo:out=31 demo:reasoning=12", { stream });
      assert.deepEqual([usage.input, usage.cached, usage.output], [120, 64, 31]);
      if (usage.reasoning !== undefined) assert.equal(usage.reasoning, 12);
    });
  }

  each("unicode survives frames of one byte", async () => {
    assert.equal((await ask(cell, settings.unicode, { stream: true })).text, `You said: ${settings.unicode}`);
  });

  for (const system of [["Be brief."], ["Be brief.", "Be kind."]]) {
    each(`system text in ${system.length} parts`, async () => {
      assert.equal((await ask(cell, "demo:system", { system })).text, `The system says: ${system.join(" ")}`);
    });
  }

  each("turns are remembered", async () => {
    const history = speaker.start();
    speaker.say(history, "first");
    await speaker.ask(kind, history);
    speaker.say(history, "demo:history");
    assert.equal((await speaker.ask(kind, history)).text, "So far: user: first / model: You said: first / user: demo:history");
  });

  for (const [choice, called] of [["any", ["first"]], ["none", []], ["second", ["second"]]]) {
    if (choice !== "none" && !kind.forcedTools) continue;
    each(`tool choice ${choice}`, async () => {
      const tools = ["first", "second"].map((name) => ({ name, schema: weather.schema }));
      const answer = await ask(cell, "demo:tool=none", { tools, choice });
      assert.deepEqual(answer.calls.map((call) => call.name), called);
    });
  }

  each("a picture is seen", async () => {
    const picture = `data:image/png;base64,${settings.pngBase64}`;
    assert.equal((await ask(cell, "look", { picture })).text, "You said: look I see image/png of 68 bytes.");
  });

  if (speaker.count) {
    each("tokens are counted", async () => {
      assert.ok((await speaker.count(kind, "count to a hundred")) > 0);
    });
  }
}
