"""The OpenAI SDK, unmodified, in both generations."""

import base64
import io
import json

import openai
import pytest
from pydantic import BaseModel

import settings
from settings import CHAT_MODEL, FAILING_CHAT_MODEL, PNG_BASE64, PNG_URL

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}


def connect(key=settings.KEY, kind=openai.OpenAI):
    return kind(base_url=f"{settings.BASE_URL}/v1", api_key=key, max_retries=0, timeout=settings.TIMEOUT_SECONDS)


@pytest.fixture(scope="module")
def client():
    with connect() as client:
        yield client


def user(content):
    return [{"role": "user", "content": content}]


def test_text(client):
    answer = client.chat.completions.create(model=CHAT_MODEL, messages=user("hello"))
    assert answer.choices[0].message.content == "You said: hello"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_system_and_history_are_accepted(client):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "You said: first"},
        {"role": "user", "content": "second"},
    ]
    answer = client.chat.completions.create(model=CHAT_MODEL, messages=messages, temperature=0.2, seed=7, user="someone")
    assert answer.choices[0].message.content == "You said: second"


def test_usage_is_exact(client):
    usage = client.chat.completions.create(model=CHAT_MODEL, messages=user(settings.EXACT_USAGE)).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (120, 31, 151)
    assert usage.prompt_tokens_details.cached_tokens == 64
    assert usage.completion_tokens_details.reasoning_tokens == 12


def test_stream(client):
    chunks = list(client.chat.completions.create(model=CHAT_MODEL, messages=user("one two three"), stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "You said: one two three"
    assert all(chunk.usage is None for chunk in chunks), "usage was not asked for"
    assert len(chunks) > 4


def test_stream_with_usage(client):
    with_usage = {"include_usage": True}
    messages = user(settings.EXACT_USAGE)
    chunks = list(client.chat.completions.create(model=CHAT_MODEL, messages=messages, stream=True, stream_options=with_usage))
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 151


def test_stream_helper(client):
    with client.chat.completions.stream(model=CHAT_MODEL, messages=user("demo:chunks=200")) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert len(deltas) >= 200
    assert final.choices[0].message.content == "".join(deltas)


def test_unicode_survives_frames_of_one_byte(client):
    text = "żółw 🐢 日本 demo:split=1"
    stream = client.chat.completions.create(model=CHAT_MODEL, messages=user(text), stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == f"You said: {text}"


@pytest.mark.anyio
async def test_async_stream():
    async with connect(kind=openai.AsyncOpenAI) as client:
        stream = await client.chat.completions.create(model=CHAT_MODEL, messages=user("hello"), stream=True)
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert "".join(pieces) == "You said: hello"


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_tool_round_trip(client):
    messages = user("weather?")
    asked = client.chat.completions.create(model=CHAT_MODEL, messages=messages, tools=[WEATHER])
    assert asked.choices[0].finish_reason == "tool_calls"
    (call,) = asked.choices[0].message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == {"city": "Paris", "days": 1}
    messages += [asked.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}]
    answer = client.chat.completions.create(model=CHAT_MODEL, messages=messages, tools=[WEATHER])
    assert answer.choices[0].message.content == "The tool answered: 21 degrees"


def test_parallel_tools(client):
    messages = user("demo:parallel=2")
    asked = client.chat.completions.create(model=CHAT_MODEL, messages=messages, tools=[WEATHER])
    first, second = asked.choices[0].message.tool_calls
    assert first.id != second.id
    messages += [asked.choices[0].message]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in ((first, "a"), (second, "b"))]
    answer = client.chat.completions.create(model=CHAT_MODEL, messages=messages, tools=[WEATHER])
    assert answer.choices[0].message.content == "The tool answered: a, b"


def test_streamed_tool_call_is_assembled(client):
    with client.chat.completions.stream(model=CHAT_MODEL, messages=user("weather?"), tools=[WEATHER]) as stream:
        stream.until_done()
        final = stream.get_final_completion()
    (call,) = final.choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"city": "Paris", "days": 1}
    assert final.choices[0].finish_reason == "tool_calls"


class Place(BaseModel):
    city: str
    days: int


def test_structured_output(client):
    answer = client.chat.completions.parse(model=CHAT_MODEL, messages=user("where?"), response_format=Place)
    assert answer.choices[0].message.parsed == Place(city="Paris", days=1)


@pytest.mark.parametrize(
    ("url", "seen"),
    [(f"data:image/png;base64,{PNG_BASE64}", "image/png of 68 bytes"), (PNG_URL, PNG_URL)],
    ids=["base64", "url"],
)
def test_vision(client, url, seen):
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]
    answer = client.chat.completions.create(model=CHAT_MODEL, messages=user(parts))
    assert answer.choices[0].message.content == f"You said: look I see {seen}."


def test_models(client):
    assert CHAT_MODEL in [model.id for model in client.models.list()]
    assert client.models.retrieve(CHAT_MODEL).id == CHAT_MODEL


def test_completions(client):
    answer = client.completions.create(model=CHAT_MODEL, prompt="hello")
    assert answer.choices[0].text == "You said: hello"
    stream = client.completions.create(model=CHAT_MODEL, prompt="hello", stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream) == "You said: hello"


def test_embeddings(client):
    by_default = client.embeddings.create(model=CHAT_MODEL, input=["a", "b"], dimensions=8)
    as_floats = client.embeddings.create(model=CHAT_MODEL, input=["a", "b"], dimensions=8, encoding_format="float")
    assert [len(entry.embedding) for entry in by_default.data] == [8, 8]
    for left, right in zip(by_default.data, as_floats.data, strict=True):
        assert left.embedding == pytest.approx(right.embedding, abs=1e-6)
    assert by_default.data[0].embedding != by_default.data[1].embedding


def test_image_generation(client):
    answer = client.images.generate(model=CHAT_MODEL, prompt="a dot", n=2)
    assert [base64.b64decode(image.b64_json)[:4] for image in answer.data] == [b"\x89PNG"] * 2


def test_image_edit(client):
    picture = io.BytesIO(base64.b64decode(PNG_BASE64))
    picture.name = "dot.png"
    answer = client.images.edit(model=CHAT_MODEL, image=picture, prompt="bluer")
    assert answer.data[0].revised_prompt == "bluer"


def test_moderation(client):
    verdicts = client.moderations.create(model=CHAT_MODEL, input=["fine", "demo:flag"]).results
    assert [verdict.flagged for verdict in verdicts] == [False, True]


def test_speech(client):
    sound = client.audio.speech.create(model=CHAT_MODEL, voice="alloy", input="hi", response_format="wav")
    assert sound.content[:4] == b"RIFF"
    with client.audio.speech.with_streaming_response.create(model=CHAT_MODEL, voice="alloy", input="hi") as stream:
        assert b"".join(stream.iter_bytes())[:3] == b"ID3"


def test_transcription(client):
    answer = client.audio.transcriptions.create(model=CHAT_MODEL, file=("note.wav", b"RIFF" + bytes(96), "audio/wav"))
    assert answer.text == "You sent note.wav: audio/wav of 100 bytes."


def test_responses(client):
    answer = client.responses.create(model=CHAT_MODEL, input="hello", instructions="Be brief.")
    assert answer.output_text == "You said: hello"
    assert answer.status == "completed"
    usage = client.responses.create(model=CHAT_MODEL, input=settings.EXACT_USAGE).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (120, 31, 151)
    assert usage.input_tokens_details.cached_tokens == 64
    assert usage.output_tokens_details.reasoning_tokens == 12


def test_responses_stream(client):
    with client.responses.stream(model=CHAT_MODEL, input="hello there") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(deltas) == final.output_text == "You said: hello there"


def test_responses_tool_round_trip(client):
    tool = {"type": "function", **WEATHER["function"]}
    history = [{"role": "user", "content": "weather?"}]
    with client.responses.stream(model=CHAT_MODEL, input=history, tools=[tool]) as stream:
        asked = stream.until_done().get_final_response()
    (call,) = [item for item in asked.output if item.type == "function_call"]
    assert json.loads(call.arguments) == {"city": "Paris", "days": 1}
    history += [
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "21 degrees"},
    ]
    assert client.responses.create(model=CHAT_MODEL, input=history, tools=[tool]).output_text == "The tool answered: 21 degrees"


def test_malformed_input_is_400(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=CHAT_MODEL, messages=user("hello"), temperature="hot")
    assert caught.value.type == "invalid_request_error"
    assert caught.value.param == "temperature"


def test_unknown_model_is_404(client):
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model=settings.MISSING_MODEL, messages=user("hello"))
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve(settings.MISSING_MODEL)


def test_unknown_path_is_404(client):
    with pytest.raises(openai.NotFoundError):
        client.post("/nowhere", cast_to=object, body={})


@pytest.mark.parametrize(
    ("status", "error"), [(429, openai.RateLimitError), (500, openai.InternalServerError)], ids=["429", "500"]
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_failures_of_the_provider(client, status, error, stream):
    with pytest.raises(error) as caught:
        client.chat.completions.create(model=FAILING_CHAT_MODEL, messages=user(f"demo:error={status}"), stream=stream)
    assert caught.value.status_code == status
    assert caught.value.body["message"], "the error body has the vendor's form"


def test_error_inside_a_stream(client):
    messages = user("demo:inband-error=3")
    with pytest.raises(openai.APIError):
        list(client.chat.completions.create(model=FAILING_CHAT_MODEL, messages=messages, stream=True))


@pytest.mark.gateway_only
def test_a_cut_stream_ends_with_an_error_event(client):
    messages = user("demo:cut=3")
    with pytest.raises(openai.APIError) as caught:
        list(client.chat.completions.create(model=FAILING_CHAT_MODEL, messages=messages, stream=True))
    assert caught.value.code == "upstream_error"


@pytest.mark.gateway_only
def test_wrong_key_is_401():
    with connect(settings.WRONG_KEY) as client, pytest.raises(openai.AuthenticationError) as caught:
        client.chat.completions.create(model=CHAT_MODEL, messages=user("hello"))
    assert caught.value.type == "authentication_error"


@pytest.mark.gateway_only
@pytest.mark.parametrize("key", [settings.DISABLED_KEY, settings.EXPIRED_KEY, settings.LIMITED_KEY], ids=["disabled", "expired", "limited"])
def test_keys_without_the_right_are_403(key):
    assert key, "the run gives such a key"
    with connect(key) as client, pytest.raises(openai.PermissionDeniedError) as caught:
        client.chat.completions.create(model=CHAT_MODEL, messages=user("hello"), stream=True)
    assert caught.value.type == "permission_error"


@pytest.mark.gateway_only
def test_a_limited_key_lists_only_its_models():
    with connect(settings.LIMITED_KEY) as client:
        assert CHAT_MODEL not in [model.id for model in client.models.list()]


@pytest.mark.gateway_only
def test_an_alias_works_like_its_model(client):
    answer = client.chat.completions.create(model="chat-alias", messages=user("hello"))
    assert answer.choices[0].message.content == "You said: hello"
