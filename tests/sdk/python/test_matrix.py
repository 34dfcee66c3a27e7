"""Every SDK on every kind of provider: the same conversation has the same answers."""

import json

import pytest

import kinds
import settings
import speakers
from speakers import Tool
from speakers.base import Options

THOUGHT = "The user wants an answer, so let me think of one."
WEATHER = {"city": "Paris", "days": 1}
CELLS = kinds.cells(speakers.ALL)
each_cell = pytest.mark.parametrize(("speaker", "kind"), CELLS, ids=[f"{speaker}-{kind}" for speaker, kind in CELLS])
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="module", autouse=True)
def connected():
    for speaker in speakers.ALL:
        speaker.connect()


def ask(speaker, kind, text, picture=None, **options):
    history = speaker.start()
    speaker.say(history, text, picture)
    return speaker.ask(kind, history, Options(**options))


@each_cell
@both_ways
def test_text(speaker, kind, stream):
    answer = ask(speaker, kind, "hello there", stream=stream)
    assert (answer.text, answer.finish, answer.calls) == ("You said: hello there", "stop", [])
    assert answer.usage.input > 0 and answer.usage.output > 0


@each_cell
def test_unicode_survives_frames_of_one_byte(speaker, kind):
    text = "żółw 🐢 日本 demo:split=1"
    assert ask(speaker, kind, text, stream=True).text == f"You said: {text}"


@each_cell
@pytest.mark.parametrize("system", [["Be brief."], ["Be brief.", "Be kind."]], ids=["text", "blocks"])
def test_system_reaches_its_place(speaker, kind, system):
    assert ask(speaker, kind, "demo:system", system=system).text == f"The system says: {' '.join(system)}"


@each_cell
def test_instructions_in_the_middle_keep_their_order(speaker, kind):
    if (speaker, kind) == (speakers.CHAT, kinds.COMPATIBLE):
        return  # It does not know the role, and what a client says to its own shape is passed on as it is.
    history = speaker.start()
    speaker.say(history, "first")
    speaker.ask(kind, history)
    speaker.instruct(history, "Be kind.")
    speaker.say(history, "demo:system")
    assert speaker.ask(kind, history, Options(system=["Be brief."])).text == "The system says: Be brief. Be kind."


@each_cell
def test_turns_are_remembered(speaker, kind):
    history = speaker.start()
    for text in ("first", "second"):
        speaker.say(history, text)
        assert speaker.ask(kind, history).text == f"You said: {text}"
    speaker.say(history, "demo:history")
    said = ["user: first", "model: You said: first", "user: second", "model: You said: second", "user: demo:history"]
    assert speaker.ask(kind, history).text == f"So far: {' / '.join(said)}"


@each_cell
@both_ways
def test_a_tool_is_called_and_its_result_understood(speaker, kind, stream):
    history, options = speaker.start(), Options(tools=[Tool()], stream=stream)
    speaker.say(history, "weather?")
    asked = speaker.ask(kind, history, options)
    (call,) = asked.calls
    assert (call.name, call.arguments, asked.finish) == ("get_weather", WEATHER, "tools")
    speaker.results(history, asked, ["21 degrees"])
    assert speaker.ask(kind, history, options).text == "The tool answered: 21 degrees"


@each_cell
@both_ways
def test_parallel_calls_are_told_apart(speaker, kind, stream):
    history, options = speaker.start(), Options(tools=[Tool()], stream=stream)
    speaker.say(history, "demo:parallel=3")
    asked = speaker.ask(kind, history, options)
    assert [call.arguments for call in asked.calls] == [WEATHER] * 3
    ids = {call.id for call in asked.calls}
    assert len(ids) == 3 or ids == {None}
    speaker.results(history, asked, ["a", "b", "c"])
    assert speaker.ask(kind, history, options).text == "The tool answered: a, b, c"


@each_cell
def test_text_before_a_call_survives(speaker, kind):
    history, options = speaker.start(), Options(tools=[Tool()], stream=True)
    speaker.say(history, "weather demo:talk")
    asked = speaker.ask(kind, history, options)
    assert asked.text == "You said: weather demo:talk" and len(asked.calls) == 1
    speaker.results(history, asked, ["fine"])
    assert speaker.ask(kind, history, options).text == "The tool answered: fine"


@each_cell
def test_many_steps_of_tools_keep_their_ids(speaker, kind):
    history, options = speaker.start(), Options(tools=[Tool(), Tool("other_tool", {"type": "object", "properties": {}})])
    speaker.say(history, "demo:steps=4 demo:parallel=2")
    ids = []
    for step in range(4):
        asked = speaker.ask(kind, history, options)
        assert [call.name for call in asked.calls] == ["get_weather", "other_tool"]
        ids += [call.id for call in asked.calls]
        speaker.results(history, asked, [f"result {step}", ""])
    assert len(set(ids)) == 8 or set(ids) == {None}
    assert speaker.ask(kind, history, options).text == "The tool answered: result 3, "


@each_cell
def test_a_failed_tool_is_told_from_one_that_worked(speaker, kind):
    history, options = speaker.start(), Options(tools=[Tool()])
    speaker.say(history, "weather?")
    asked = speaker.ask(kind, history, options)
    speaker.results(history, asked, ["Error: no such city"])
    assert speaker.ask(kind, history, options).text == "The tool answered: Error: no such city"


@each_cell
@pytest.mark.parametrize("choice", ["auto", "any", "none", "second"])
def test_the_choice_of_tools_is_kept(speaker, kind, choice):
    tools = [Tool("first"), Tool("second")]
    if choice in ("any", "second") and not kind.forced_tools:
        return
    called = [call.name for call in ask(speaker, kind, "demo:tool=none", tools=tools, choice=choice).calls]
    assert called == {"auto": [], "any": ["first"], "none": [], "second": ["second"]}[choice]


@each_cell
def test_one_call_at_a_time_where_that_can_be_said(speaker, kind):
    if speaker is speakers.GEMINI or kind.shape == kinds.GENERATE:
        return
    assert len(ask(speaker, kind, "demo:parallel=2", tools=[Tool()], parallel=False).calls) == 1


@each_cell
def test_tools_without_parameters_get_an_empty_object(speaker, kind):
    tool = Tool("now", {"type": "object", "properties": {}, "additionalProperties": False})
    (call,) = ask(speaker, kind, "time?", tools=[tool], stream=True).calls
    assert call.arguments == {}


@each_cell
@both_ways
def test_arguments_keep_their_order_and_their_numbers(speaker, kind, stream):
    text = 'demo:args={"z":"é😀\\n","a":9007199254740993,"m":{"k":[1.5,null,true]}}'
    (call,) = ask(speaker, kind, text, tools=[Tool()], stream=stream).calls
    assert list(call.arguments.items()) == [("z", "é😀\n"), ("a", 9007199254740993), ("m", {"k": [1.5, None, True]})]


@each_cell
@both_ways
def test_structured_output_follows_the_schema(speaker, kind, stream):
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "at": {"type": "array", "items": {"type": "number"}}},
        "required": ["city", "at"],
        "additionalProperties": False,
    }
    answer = ask(speaker, kind, "where?", schema=schema, stream=stream)
    assert json.loads(answer.text) == {"city": "Paris", "at": [1.5]}
    assert answer.finish == "stop" and not answer.calls


@each_cell
def test_a_picture_is_seen(speaker, kind):
    assert ask(speaker, kind, "look", picture=settings.PNG).text == "You said: look I see image/png of 68 bytes."


@each_cell
def test_a_picture_elsewhere_is_fetched_or_passed_on(speaker, kind):
    if not settings.THROUGH_GATEWAY and not kind.addresses:
        return
    url = f"{settings.DEMO_URL}/__picture.png"
    fetched, passed = "image/png of 68 bytes", url
    assert ask(speaker, kind, "look", picture=url).text in [f"You said: look I see {seen}." for seen in (fetched, passed)]


@each_cell
@both_ways
def test_stop_texts_end_the_answer(speaker, kind, stream):
    if not speaker.has_stop:
        return
    answer = ask(speaker, kind, "one two three", stop="two", stream=stream)
    assert (answer.text.rstrip(), answer.finish) == ("You said: one", "stop")


@each_cell
@both_ways
def test_the_output_limit_cuts(speaker, kind, stream):
    answer = ask(speaker, kind, "x" * 100, limit=16, stream=stream)
    assert (answer.text, answer.finish) == (f"You said: {'x' * 54}", "length")


@each_cell
def test_a_filtered_answer_says_so(speaker, kind):
    assert ask(speaker, kind, "demo:finish=filter").finish == "filter"


@each_cell
@both_ways
def test_reasoning_is_asked_for_and_shown(speaker, kind, stream):
    answer = ask(speaker, kind, "hm", thinks=True, stream=stream)
    assert answer.text == "You said: hm"
    if speaker.shows(kind) and (speaker is not speakers.RESPONSES or kind.shows_thoughts or kind.shape == kinds.CHAT):
        assert answer.thoughts == THOUGHT
    if answer.usage.reasoning is not None and (kind.reasons or speaker.direct(kind)):
        assert answer.usage.reasoning > 0


@each_cell
@both_ways
def test_reasoning_goes_on_after_tools(speaker, kind, stream):
    history, options = speaker.start(), Options(tools=[Tool()], thinks=True, stream=stream)
    speaker.say(history, "weather demo:steps=2")
    for text in ("cold", "warm"):
        asked = speaker.ask(kind, history, options)
        assert len(asked.calls) == 1
        speaker.results(history, asked, [text])
    assert speaker.ask(kind, history, options).text == "The tool answered: warm"
    speaker.say(history, "bye demo:tool=none")
    assert speaker.ask(kind, history, options).text == "You said: bye demo:tool=none"


@each_cell
@both_ways
def test_usage_is_exact(speaker, kind, stream):
    marks = "demo:in=120 demo:cached=64 demo:cache-write=16 demo:out=31 demo:reasoning=12"
    usage = ask(speaker, kind, f"count {marks}", stream=stream).usage
    assert (usage.input, usage.cached, usage.output) == (120, 64, 31)
    assert usage.reasoning in (12, None)
    if speaker.written and usage.written is not None:
        assert usage.written == (16 if kind.counts_writes else 0)


@each_cell
def test_tokens_are_counted(speaker, kind):
    if not speaker.counts:
        return
    counted = speaker.count(kind, "count to a hundred demo:in=77")
    native = {speakers.MESSAGES: kinds.MESSAGES, speakers.GEMINI: kinds.GENERATE}[speaker] == kind.shape
    assert counted == 77 if native else counted > 0
