"""A conversation that moves to another provider between its turns, and back."""

import pytest

import kinds
import settings
import speakers
from speakers import Tool
from speakers.base import Options

PAIRS = [(here, there) for here in kinds.UNLIKE for there in kinds.UNLIKE if here is not there]
pytestmark = pytest.mark.gateway_only


@pytest.fixture(scope="module", autouse=True)
def connected():
    for speaker in speakers.ALL:
        speaker.connect()


def call_and_answer(speaker, history, calls_on, answers_on, word, options):
    """A tool is called by one provider and its result read by the other."""
    speaker.say(history, f"{word} demo:talk")
    asked = speaker.ask(calls_on, history, options)
    assert [call.name for call in asked.calls] == ["get_weather"]
    speaker.results(history, asked, [f"{word} result"])
    answered = speaker.ask(answers_on, history, options)
    assert answered.text == f"The tool answered: {word} result"


@pytest.mark.parametrize(("here", "there"), PAIRS, ids=[f"{here}-{there}" for here, there in PAIRS])
@pytest.mark.parametrize("thinks", [False, True], ids=["plain", "thinking"])
@pytest.mark.parametrize("speaker", speakers.ALL, ids=str)
def test_a_conversation_moves_and_comes_back(speaker, here, there, thinks):
    history = speaker.start()
    options = Options(tools=[Tool()], thinks=thinks, system=["Be brief."], stream=thinks)
    call_and_answer(speaker, history, here, here, "one", options)
    call_and_answer(speaker, history, here, there, "two", options)
    call_and_answer(speaker, history, there, here, "three", options)
    speaker.say(history, "demo:history demo:tool=none")
    said = [line for word in ("one", "two", "three") for line in lines(word)]
    expected = " / ".join([*said, "user: demo:history demo:tool=none"])
    assert speaker.ask(here, history, options).text == f"So far: {expected}"


def lines(word):
    return [f"user: {word} demo:talk", f"model: You said: {word} demo:talk", f"model: The tool answered: {word} result"]


@pytest.mark.parametrize("speaker", speakers.ALL, ids=str)
def test_a_conversation_goes_round_every_kind(speaker):
    history = speaker.start()
    options = Options(tools=[Tool()], thinks=True)
    for number, kind in enumerate([*kinds.UNLIKE, *reversed(kinds.UNLIKE)]):
        speaker.say(history, f"turn {number} demo:parallel=2")
        asked = speaker.ask(kind, history, options)
        assert len(asked.calls) == 2, settings.BASE_URL
        speaker.results(history, asked, ["a", "b"])
    assert speaker.ask(kinds.ANTHROPIC, history, options).text == "The tool answered: a, b"
