"""What the newest and the oldest models want otherwise, and what one shape knows that others have to be told."""

import base64
import json

import anthropic
import pytest
from google.genai import types

import kinds
import settings
import speakers
from speakers import Tool
from speakers.base import Options

pytestmark = pytest.mark.gateway_only
THOUGHT = "The user wants an answer, so let me think of one."
TRANSLATED = [speakers.MESSAGES, speakers.GEMINI]
PDF = base64.b64encode(b"%PDF-1.4\n%%EOF\n").decode()
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
every_kind = pytest.mark.parametrize("kind", kinds.ALL, ids=str)


@pytest.fixture(scope="module", autouse=True)
def connected():
    for speaker in speakers.ALL:
        speaker.connect()


def ask(speaker, kind, text, **options):
    history = speaker.start()
    speaker.say(history, text)
    return speaker.ask(kind, history, Options(**options))


def user(content):
    return [{"role": "user", "content": content}]


@pytest.mark.parametrize("speaker", [speakers.CHAT, *TRANSLATED], ids=str)
@pytest.mark.parametrize("thinks", [False, True], ids=["plain", "thinking"])
@both_ways
def test_tools_and_reasoning_go_together_on_models_that_part_them(speaker, thinks, stream):
    history, options = speaker.start(), Options(tools=[Tool()], thinks=thinks, stream=stream)
    speaker.say(history, "weather demo:steps=2 demo:parallel=2")
    for text in ("cold", "warm"):
        asked = speaker.ask(kinds.GPT, history, options)
        assert len(asked.calls) == 2
        if thinks:
            assert asked.thoughts == THOUGHT
        speaker.results(history, asked, [text, text])
    assert speaker.ask(kinds.GPT, history, options).text == "The tool answered: warm, warm"


@pytest.mark.parametrize("speaker", TRANSLATED, ids=str)
def test_a_reasoning_model_gets_no_stop_texts(speaker):
    assert ask(speaker, kinds.GPT, "one two three", stop="two").text == "You said: one two three"


@pytest.mark.parametrize("kind", [kinds.ANTHROPIC, kinds.ANTHROPIC_NEW, kinds.BEDROCK, kinds.GEMINI, kinds.VERTEX], ids=str)
@pytest.mark.parametrize("temperature", [0, 0.7, 1.5])
def test_temperatures_of_chat_fit_every_model(kind, temperature):
    create = speakers.CHAT.client.chat.completions.create
    answer = create(model=kind.model, messages=user("hi"), temperature=temperature, top_p=0.9)
    assert answer.choices[0].message.content == "You said: hi"


@pytest.mark.parametrize("kind", [kinds.OPENAI, kinds.GPT, kinds.AZURE, kinds.GEMINI, kinds.VERTEX], ids=str)
def test_sampling_of_messages_fits_every_model(kind):
    sampling = {"temperature": 0.5, "top_p": 0.9, "top_k": 20}
    request = {"model": kind.model, "max_tokens": 99, "messages": user("hi"), "extra_body": sampling}
    assert speakers.MESSAGES.client.messages.create(**request).content[0].text == "You said: hi"


@pytest.mark.parametrize("kind", [kinds.OPENAI, kinds.GPT, kinds.ANTHROPIC, kinds.ANTHROPIC_NEW, kinds.BEDROCK], ids=str)
def test_sampling_of_generate_content_fits_every_model(kind):
    config = types.GenerateContentConfig(temperature=1.7, top_p=0.9, top_k=20, seed=7, presence_penalty=0.1)
    answer = speakers.GEMINI.client.models.generate_content(model=kind.model, contents="hi", config=config)
    assert answer.text == "You said: hi"


@pytest.mark.parametrize("effort", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
@pytest.mark.parametrize("kind", [kind for kind in kinds.ALL if kind.shape != kinds.CHAT], ids=str)
def test_every_effort_of_chat_fits_every_model(kind, effort):
    create = speakers.CHAT.client.chat.completions.create
    answer = create(model=kind.model, messages=user("hi"), reasoning_effort=effort, max_completion_tokens=20_000)
    assert answer.choices[0].message.content == "You said: hi"


@pytest.mark.parametrize("effort", ["low", "medium", "high", "xhigh", "max"])
@pytest.mark.parametrize("kind", [kinds.OPENAI, kinds.GPT, kinds.AZURE, kinds.GEMINI, kinds.GEMINI_3, kinds.VERTEX], ids=str)
def test_every_effort_of_messages_fits_every_model(kind, effort):
    more = {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
    request = {"model": kind.model, "max_tokens": 20_000, "messages": user("hi"), "extra_body": more}
    message = speakers.MESSAGES.client.messages.create(**request)
    assert [block.text for block in message.content if block.type == "text"] == ["You said: hi"]


@pytest.mark.parametrize("thinking", [{"thinking_level": "LOW"}, {"thinking_level": "HIGH"}, {"thinking_budget": 0}, {"thinking_budget": -1}], ids=str)
@pytest.mark.parametrize("kind", [kind for kind in [*kinds.ALL, kinds.GPT] if kind.shape != kinds.GENERATE], ids=str)
def test_every_thinking_of_generate_content_fits_every_model(kind, thinking):
    config = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(**thinking))
    answer = speakers.GEMINI.client.models.generate_content(model=kind.model, contents="hi", config=config)
    assert answer.text == "You said: hi"


@pytest.mark.parametrize("speaker", TRANSLATED[:1] + [speakers.CHAT], ids=str)
@pytest.mark.parametrize("kind", [kinds.ANTHROPIC, kinds.VERTEX_CLAUDE, kinds.ANTHROPIC_NEW], ids=str)
def test_a_forced_choice_and_thinking_do_not_collide(speaker, kind):
    if speaker is speakers.MESSAGES:
        return  # What a client says to its own shape is passed on as it is.
    answer = ask(speaker, kind, "weather", tools=[Tool()], choice="get_weather", thinks=True)
    assert [call.name for call in answer.calls] == ["get_weather"]


@pytest.mark.parametrize("speaker", [speakers.CHAT, speakers.GEMINI], ids=str)
@both_ways
def test_structured_output_works_where_the_model_has_none(speaker, stream):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    answer = ask(speaker, kinds.CLAUDE_3, "where?", schema=schema, stream=stream)
    assert (json.loads(answer.text), answer.finish, answer.calls) == ({"city": "Paris"}, "stop", [])


@pytest.mark.parametrize("speaker", [speakers.CHAT, speakers.GEMINI], ids=str)
def test_a_model_without_thinking_is_not_asked_to(speaker):
    assert ask(speaker, kinds.CLAUDE_3, "hm", thinks=True).text == "You said: hm"


@every_kind
def test_long_tool_names_come_back(kind):
    names = ["f" * 90 + "_one", "f" * 90 + "_two"]
    answer = ask(speakers.GEMINI, kind, "demo:parallel=2", tools=[Tool(name) for name in names])
    assert [call.name for call in answer.calls] == names


@every_kind
def test_tool_names_with_signs_come_back(kind):
    history, options = speakers.GEMINI.start(), Options(tools=[Tool("rates.of:day")])
    speakers.GEMINI.say(history, "rate?")
    asked = speakers.GEMINI.ask(kind, history, options)
    assert [call.name for call in asked.calls] == ["rates.of:day"]
    speakers.GEMINI.results(history, asked, ["1.09"])
    assert speakers.GEMINI.ask(kind, history, options).text == "The tool answered: 1.09"


@every_kind
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"const": "x"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}, "patternProperties": {}},
        {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True, "items": {"type": "number", "multipleOf": 2}}}},
        {"type": "object", "properties": {}},
    ],
    ids=["nullable", "references", "unions", "keywords", "empty"],
)
def test_schemas_of_tools_fit_every_vendor(kind, schema):
    for speaker in (speakers.CHAT, speakers.MESSAGES):
        assert [call.name for call in ask(speaker, kind, "go", tools=[Tool("go", schema)]).calls] == ["go"]


@every_kind
def test_a_picture_a_tool_returned_is_seen(kind):
    history, options = [], Options(tools=[Tool()])
    speakers.MESSAGES.say(history, "screenshot?")
    asked = speakers.MESSAGES.ask(kind, history, options)
    source = {"type": "base64", "media_type": "image/png", "data": settings.PNG_BASE64}
    content = [{"type": "text", "text": "here"}, {"type": "image", "source": source}]
    history.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": asked.calls[0].id, "content": content}]})
    options.choice = "none"
    assert "image/png of 68 bytes" in speakers.MESSAGES.ask(kind, history, options).text


@every_kind
def test_documents_are_seen(kind):
    url = f"data:application/pdf;base64,{PDF}"
    parts = [{"type": "file", "file": {"filename": "a.pdf", "file_data": url}}, {"type": "text", "text": "read"}]
    answer = speakers.CHAT.client.chat.completions.create(model=kind.model, messages=user(parts))
    assert answer.choices[0].message.content == "You said: read I see application/pdf of 15 bytes."
    source = {"type": "base64", "media_type": "application/pdf", "data": PDF}
    parts = [{"type": "document", "source": source, "title": "a.pdf"}, {"type": "text", "text": "read"}]
    request = {"model": kind.model, "max_tokens": 99, "messages": user(parts)}
    answer = speakers.MESSAGES.client.messages.create(**request)
    assert answer.content[0].text == "You said: read I see application/pdf of 15 bytes."


@every_kind
def test_histories_that_bend_the_rules_are_mended(kind):
    # Two turns of the user in a row, a blank one, and a call nobody answered.
    call = {"id": "call_" + "x" * 60, "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    history = [
        {"role": "assistant", "content": "Welcome."},
        {"role": "user", "content": "one"},
        {"role": "user", "content": " "},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "two"},
    ]
    if kind.shape == kinds.CHAT:
        return  # What a client says to its own shape is passed on as it is.
    tools = speakers.CHAT.settings(Options(tools=[Tool()], choice="none"))
    answer = speakers.CHAT.client.chat.completions.create(model=kind.model, messages=history, **tools)
    assert answer.choices[0].message.content == "You said: two"


@every_kind
def test_tools_for_free_text_work_everywhere(kind):
    tool = {"type": "custom", "custom": {"name": "run", "description": "Runs a line", "format": {"type": "text"}}}
    create, messages = speakers.CHAT.client.chat.completions.create, user("go")
    asked = create(model=kind.model, messages=messages, tools=[tool]).choices[0].message
    (call,) = asked.tool_calls
    assert (call.type, call.custom.name, call.custom.input) == ("custom", "run", "demo")
    messages += [asked, {"role": "tool", "tool_call_id": call.id, "content": "done"}]
    assert create(model=kind.model, messages=messages, tools=[tool]).choices[0].message.content == "The tool answered: done"


@both_ways
def test_the_web_is_searched_where_the_vendor_can(stream):
    request = {
        "model": kinds.GPT.model,
        "max_tokens": 999,
        "messages": user("news demo:search=rust"),
        "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
    }
    if stream:
        with speakers.MESSAGES.client.messages.stream(**request) as stream:
            message = stream.get_final_message()
    else:
        message = speakers.MESSAGES.client.messages.create(**request)
    asked, found, *texts = message.content
    assert (asked.type, asked.name, asked.input) == ("server_tool_use", "web_search", {"query": "rust"})
    assert found.content[0].url == "https://example.com/found"
    assert "".join(block.text for block in texts) == "You said: news demo:search=rust"
    assert any(block.citations for block in texts)
    assert message.usage.server_tool_use.web_search_requests == 1


def test_a_search_nobody_can_do_is_refused_or_left_out():
    search = {"type": "web_search_20250305", "name": "web_search"}
    request = {"model": kinds.COMPATIBLE.model, "max_tokens": 999, "messages": user("news")}
    with pytest.raises(anthropic.BadRequestError):
        speakers.MESSAGES.client.messages.create(**request, tools=[search])
    own = speakers.MESSAGES.settings(kinds.COMPATIBLE, Options(tools=[Tool()]))["tools"]
    assert speakers.MESSAGES.client.messages.create(**request, tools=[search, *own]).stop_reason == "tool_use"


@every_kind
def test_a_computer_is_used(kind):
    tool = {"type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600}
    if kind.shape == kinds.MESSAGES:
        return
    request = {"model": kind.model, "max_tokens": 999, "messages": user("click"), "tools": [tool]}
    message = speakers.MESSAGES.client.messages.create(**request)
    (call,) = [block for block in message.content if block.type == "tool_use"]
    assert call.name == "computer" and call.input["action"]


@pytest.mark.parametrize("speaker", [speakers.CHAT, speakers.RESPONSES, speakers.MESSAGES], ids=str)
@pytest.mark.parametrize("kind", [kinds.GEMINI, kinds.GEMINI_3, kinds.VERTEX], ids=str)
def test_a_blocked_prompt_is_a_refusal_and_no_empty_success(speaker, kind):
    assert ask(speaker, kind, "demo:block").finish == "filter"


@pytest.mark.parametrize("speaker", [speakers.CHAT, speakers.MESSAGES], ids=str)
def test_a_malformed_call_is_the_providers_failure(speaker):
    with pytest.raises(speaker.errors[500]):
        ask(speaker, kinds.GEMINI, "demo:finish=malformed", tools=[Tool()])


@pytest.mark.parametrize("kind", [*kinds.ALL, kinds.GPT], ids=str)
def test_free_json_can_be_asked_for(kind):
    config = types.GenerateContentConfig(response_mime_type="application/json")
    answer = speakers.GEMINI.client.models.generate_content(model=kind.model, contents="anything", config=config)
    assert answer.text is not None
