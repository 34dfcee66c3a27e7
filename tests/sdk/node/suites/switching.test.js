// A conversation that moves to another provider between its turns, and back.
import assert from "node:assert/strict";

import * as kinds from "./kinds.js";
import { throughGateway } from "./settings.js";
import * as speakers from "./speakers/index.js";
import { weather } from "./speakers/index.js";

for (const speaker of speakers.all) {
  for (const thinks of [false, true]) {
    throughGateway(`${speaker.name}: a conversation goes round every kind${thinks ? ", thinking" : ""}`, async () => {
      const history = speaker.start();
      const options = { tools: [weather], thinks, stream: thinks };
      const round = [...kinds.unlike, ...kinds.unlike.toReversed()];
      for (const [number, kind] of round.entries()) {
        speaker.say(history, `turn ${number} demo:parallel=2`);
        const asked = await speaker.ask(kind, history, options);
        assert.equal(asked.calls.length, 2, kind.model);
        speaker.results(history, asked, ["a", "b"]);
        const next = round[number + 1] ?? kinds.anthropic;
        assert.equal((await speaker.ask(next, history, options)).text, "The tool answered: a, b", `${kind.model} to ${next.model}`);
      }
    });
  }
}
