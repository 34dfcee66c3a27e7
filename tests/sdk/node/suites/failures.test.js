// What goes wrong at a provider is the same error in every SDK, whichever kind of provider it was.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as kinds from "./kinds.js";
import { collect, throughTheGateway } from "./settings.js";
import * as speakers from "./speakers/index.js";

for (const { speaker, kind, cell } of kinds.cells(speakers.all, kinds.fallible)) {
  for (const status of [400, 404, 429, 500, 503]) {
    test(`${cell}: ${status} keeps its class`, async () => {
      for (const stream of [false, true]) {
        const history = speaker.start();
        speaker.say(history, `demo:error=${status}`);
        await assert.rejects(speaker.ask(kind, history, { model: kind.failing, stream }), (error) => {
          assert.ok(error instanceof speaker.errors[status], `${error}`);
          // The messages shape has a status of its own for overload.
          assert.ok(status === 503 ? [503, 529].includes(speaker.status(error)) : speaker.status(error) === status, `${error}`);
          return true;
        });
      }
    });
  }

  for (const marker of throughTheGateway ? ["inband-error", "cut", "end-after"] : ["inband-error"]) {
    test(`${cell}: a stream with ${marker} does not end well`, async () => {
      const text = `one two three four five six seven demo:${marker}=6`;
      await assert.rejects(async () => collect(await speaker.begin(kind, text)));
    });
  }
}
