"""The SDKs' own helpers on every kind of provider: they rely on more of an answer than a single call does."""

import anthropic
import pytest
from google.genai import types
from pydantic import BaseModel

import kinds
import speakers

pytestmark = pytest.mark.gateway_only
every_kind = pytest.mark.parametrize("kind", kinds.ALL, ids=str)


@pytest.fixture(scope="module", autouse=True)
def connected():
    for speaker in speakers.ALL:
        speaker.connect()


class Place(BaseModel):
    city: str
    days: int


def user(text):
    return [{"role": "user", "content": text}]


@every_kind
def test_chat_answers_are_parsed(kind):
    completions = speakers.CHAT.client.chat.completions
    answer = completions.parse(model=kind.model, messages=user("where?"), response_format=Place)
    assert answer.choices[0].message.parsed == Place(city="Paris", days=1)
    with completions.stream(model=kind.model, messages=user("where?"), response_format=Place) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == Place(city="Paris", days=1)


@every_kind
def test_chat_chunks_keep_the_grammar(kind):
    options = {"include_usage": True}
    request = {"model": kind.model, "messages": user("one two demo:think"), "stream": True, "stream_options": options}
    chunks = list(speakers.CHAT.client.chat.completions.create(**request))
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert len({chunk.id for chunk in chunks if chunk.choices}) == 1 and chunks[-1].id
    assert {chunk.model for chunk in chunks if chunk.choices} == {kind.model}
    assert choices[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens > 0


@every_kind
def test_chat_gets_no_usage_it_did_not_ask_for(kind):
    request = {"model": kind.model, "messages": user("one two"), "stream": True}
    chunks = list(speakers.CHAT.client.chat.completions.create(**request))
    assert all(chunk.usage is None for chunk in chunks)
    assert all(chunk.choices for chunk in chunks if not getattr(chunk, "prompt_filter_results", None))


@every_kind
def test_responses_are_parsed(kind):
    answer = speakers.RESPONSES.client.responses.parse(model=kind.model, input="where?", text_format=Place, store=False)
    assert answer.output_parsed == Place(city="Paris", days=1)


@every_kind
def test_the_tool_runner_of_messages_comes_to_an_end(kind):
    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Weather of a city

        Args:
            city: where
        """
        return f"sunny in {city}"

    request = {"model": kind.model, "max_tokens": 1024, "messages": user("weather?"), "tools": [get_weather]}
    for stream in (False, True):
        runner = speakers.MESSAGES.client.beta.messages.tool_runner(**request, stream=stream)
        final = runner.until_done()
        assert "".join(block.text for block in final.content if block.type == "text") == "The tool answered: sunny in Paris"


@every_kind
def test_messages_keep_the_grammar_of_events(kind):
    request = {"model": kind.model, "max_tokens": 1024, "messages": user("weather demo:talk demo:parallel=2"), "stream": True}
    tools = speakers.MESSAGES.settings(kind, speakers.base.Options(tools=[speakers.Tool()]))["tools"]
    events = list(speakers.MESSAGES.client.messages.create(**request, tools=tools))
    assert [events[0].type, events[-2].type, events[-1].type] == ["message_start", "message_delta", "message_stop"]
    assert events[0].message.model == kind.model
    open_block, starts = None, 0
    for event in events[1:-2]:
        if event.type == "content_block_start":
            assert open_block is None and event.index == starts
            open_block, starts = event.index, starts + 1
        elif event.type == "content_block_delta":
            assert event.index == open_block
        elif event.type == "content_block_stop":
            assert event.index == open_block
            open_block = None
    assert open_block is None and starts >= 3
    assert events[-2].usage.output_tokens > 0


@every_kind
def test_generate_content_calls_functions_by_itself(kind):
    def get_weather(city: str) -> str:
        """Weather of a city."""
        return f"sunny in {city}"

    config = types.GenerateContentConfig(tools=[get_weather])
    answer = speakers.GEMINI.client.models.generate_content(model=kind.model, contents="weather?", config=config)
    assert answer.text == "The tool answered: sunny in Paris"


@every_kind
def test_chats_of_generate_content_keep_every_turn(kind):
    chat = speakers.GEMINI.client.chats.create(model=kind.model)
    assert "".join(chunk.text or "" for chunk in chat.send_message_stream("first")) == "You said: first"
    assert chat.send_message("demo:history").text == "So far: user: first / model: You said: first / user: demo:history"
    assert [turn.role for turn in chat.get_history(curated=True)][-2:] == ["user", "model"]


@every_kind
def test_every_chunk_of_generate_content_has_a_part(kind):
    chunks = list(speakers.GEMINI.client.models.generate_content_stream(model=kind.model, contents="one two"))
    assert all(chunk.candidates[0].content.parts for chunk in chunks)
    assert {chunk.model_version for chunk in chunks} == {kind.model}
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert chunks[-1].usage_metadata.total_token_count > 0
