"""The Anthropic SDK, unmodified, in both generations."""

import anthropic
import pytest

import settings
from settings import FAILING_MESSAGES_MODEL, MESSAGES_MODEL, PNG_BASE64, PNG_URL

WEATHER = {
    "name": "get_weather",
    "description": "Weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
}
SENDS_NEWEST_VERSION = int(anthropic.__version__.split(".")[0]) >= 2


def connect(key=settings.KEY, kind=anthropic.Anthropic):
    return kind(base_url=settings.BASE_URL, api_key=key, max_retries=0, timeout=settings.TIMEOUT_SECONDS)


@pytest.fixture(scope="module")
def client():
    with connect() as client:
        yield client


def ask(content, **more):
    return {"model": MESSAGES_MODEL, "max_tokens": 1024, "messages": [{"role": "user", "content": content}], **more}


def test_text(client):
    answer = client.messages.create(**ask("hello", system="Be brief."))
    assert answer.content[0].text == "You said: hello"
    assert answer.stop_reason == "end_turn"
    assert answer.role == "assistant"


def test_usage_is_exact(client):
    usage = client.messages.create(**ask(settings.EXACT_USAGE + " demo:cache-write=6")).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (50, 64, 6)
    assert usage.output_tokens == 31


def test_output_limit(client):
    answer = client.messages.create(**ask("a text that is longer than that", max_tokens=3))
    assert answer.stop_reason == "max_tokens"
    assert answer.content[0].text == "You said: a "


def test_stream(client):
    events = list(client.messages.create(**ask("one two three"), stream=True))
    assert [events[0].type, events[-2].type, events[-1].type] == ["message_start", "message_delta", "message_stop"]
    deltas = [event.delta.text for event in events if event.type == "content_block_delta"]
    assert "".join(deltas) == "You said: one two three"
    assert events[-2].usage.output_tokens > 0


def test_stream_helper(client):
    with client.messages.stream(**ask("demo:chunks=200", max_tokens=4096)) as stream:
        texts = list(stream.text_stream)
        final = stream.get_final_message()
    assert len(texts) >= 200
    assert final.content[0].text == "".join(texts)


def test_unicode_survives_frames_of_one_byte(client):
    text = "żółw 🐢 日本 demo:split=1"
    with client.messages.stream(**ask(text)) as stream:
        assert stream.get_final_text() == f"You said: {text}"


def test_thinking_is_streamed_with_its_signature(client):
    with client.messages.stream(**ask("hm", max_tokens=4096, thinking={"type": "enabled", "budget_tokens": 2048})) as stream:
        final = stream.get_final_message()
    thought, text = final.content
    assert thought.type == "thinking" and thought.thinking and thought.signature
    assert text.text == "You said: hm"


@pytest.mark.anyio
async def test_async_stream():
    async with connect(kind=anthropic.AsyncAnthropic) as client, client.messages.stream(**ask("hello")) as stream:
        assert await stream.get_final_text() == "You said: hello"


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_tool_round_trip(client):
    asked = client.messages.create(**ask("weather?", tools=[WEATHER]))
    assert asked.stop_reason == "tool_use"
    (call,) = asked.content
    assert (call.name, call.input) == ("get_weather", {"city": "Paris", "days": 1})
    request = ask("weather?", tools=[WEATHER])
    request["messages"] += [
        {"role": "assistant", "content": asked.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "21 degrees"}]},
    ]
    assert client.messages.create(**request).content[0].text == "The tool answered: 21 degrees"


def test_parallel_tools(client):
    asked = client.messages.create(**ask("demo:parallel=2", tools=[WEATHER]))
    assert len({call.id for call in asked.content}) == 2
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in zip(asked.content, "ab")]
    request = ask("demo:parallel=2", tools=[WEATHER])
    request["messages"] += [{"role": "assistant", "content": asked.content}, {"role": "user", "content": results}]
    assert client.messages.create(**request).content[0].text == "The tool answered: a, b"


def test_streamed_tool_call_is_assembled(client):
    with client.messages.stream(**ask("weather?", tools=[WEATHER])) as stream:
        final = stream.get_final_message()
    (call,) = final.content
    assert call.input == {"city": "Paris", "days": 1}
    assert final.stop_reason == "tool_use"


def test_tool_runner(client):
    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Weather of a city

        Args:
            city: where
        """
        return f"sunny in {city}"

    final = client.beta.messages.tool_runner(**ask("weather?", tools=[get_weather])).until_done()
    assert final.content[0].text == "The tool answered: sunny in Paris"


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ({"type": "base64", "media_type": "image/png", "data": PNG_BASE64}, "image/png of 68 bytes"),
        ({"type": "url", "url": PNG_URL}, PNG_URL),
    ],
    ids=["base64", "url"],
)
def test_vision(client, source, seen):
    parts = [{"type": "image", "source": source}, {"type": "text", "text": "look"}]
    assert client.messages.create(**ask(parts)).content[0].text == f"You said: look I see {seen}."


def test_models(client):
    assert MESSAGES_MODEL in [model.id for model in client.models.list()]
    assert client.models.retrieve(MESSAGES_MODEL).id == MESSAGES_MODEL


def test_count_tokens(client):
    messages = [{"role": "user", "content": "demo:in=77"}]
    assert client.messages.count_tokens(model=MESSAGES_MODEL, messages=messages).input_tokens == 77
    assert client.messages.count_tokens(model=MESSAGES_MODEL, messages=messages, system="x", tools=[WEATHER]).input_tokens == 77


def test_beta_messages(client):
    answer = client.beta.messages.create(**ask("hello"), betas=["context-management-2025-06-27"])
    assert answer.content[0].text == "You said: hello"


def test_a_lost_thread_is_told_as_the_vendor_tells_it(client):
    # Tool runners recover from exactly this error, so nothing on the way may change it.
    if not SENDS_NEWEST_VERSION:
        return
    thread = {"type": "continue", "previous_message_id": "msg_unknown"}
    with pytest.raises(anthropic.NotFoundError) as caught:
        client.beta.messages.create(**ask("hello", thread=thread), betas=["message-threads-2026-08-12"])
    assert caught.value.body["error"]["details"]["error_code"] == "thread_not_found"


def test_sampling_parameters_depend_on_the_version(client):
    if not SENDS_NEWEST_VERSION:
        assert client.messages.create(**ask("hello", temperature=0.5)).content[0].text == "You said: hello"
        return
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**ask("hello", extra_body={"temperature": 0.5}))


def test_malformed_input_is_400(client):
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(**ask("hello", extra_body={"no_such_field": True}))
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert caught.value.request_id


def test_unknown_model_is_404(client):
    with pytest.raises(anthropic.NotFoundError) as caught:
        client.messages.create(**ask("hello", model=settings.MISSING_MODEL))
    assert caught.value.body["error"]["type"] == "not_found_error"
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve(settings.MISSING_MODEL)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (529, anthropic.APIStatusError, "overloaded_error"),
    ],
    ids=["429", "500", "529"],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_failures_of_the_provider(client, status, error, kind, stream):
    with pytest.raises(error) as caught:
        client.messages.create(**ask(f"demo:error={status}", model=FAILING_MESSAGES_MODEL, stream=stream))
    assert caught.value.status_code == status
    assert caught.value.body["error"]["type"] == kind


def test_error_inside_a_stream(client):
    with pytest.raises(anthropic.APIStatusError) as caught:
        list(client.messages.create(**ask("demo:inband-error=5", model=FAILING_MESSAGES_MODEL, stream=True)))
    assert caught.value.body["error"]["type"] == "overloaded_error"


@pytest.mark.gateway_only
def test_a_cut_stream_ends_with_an_error_event(client):
    request = ask("demo:cut=5", model=FAILING_MESSAGES_MODEL)
    with pytest.raises(anthropic.APIStatusError) as caught, client.messages.stream(**request) as stream:
        stream.get_final_message()
    assert caught.value.body["error"]["type"] == "overloaded_error"


@pytest.mark.gateway_only
def test_wrong_key_is_401():
    with connect(settings.WRONG_KEY) as client, pytest.raises(anthropic.AuthenticationError) as caught:
        client.messages.create(**ask("hello"))
    assert caught.value.body["error"]["type"] == "authentication_error"


@pytest.mark.gateway_only
@pytest.mark.parametrize("key", [settings.DISABLED_KEY, settings.EXPIRED_KEY, settings.LIMITED_KEY], ids=["disabled", "expired", "limited"])
def test_keys_without_the_right_are_403(key):
    assert key, "the run gives such a key"
    with connect(key) as client, pytest.raises(anthropic.PermissionDeniedError) as caught:
        client.messages.create(**ask("hello", stream=True))
    assert caught.value.body["error"]["type"] == "permission_error"
