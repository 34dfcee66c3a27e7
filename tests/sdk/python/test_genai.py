"""The google-genai SDK, unmodified, in both generations."""

import base64

import pytest
from google import genai
from google.genai import errors, types

import settings
from settings import FAILING_GEMINI_MODEL, GEMINI_MODEL, PNG_BASE64, PNG_URL

WEATHER = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="get_weather",
            description="Weather of a city",
            parameters=types.Schema(
                type="OBJECT",
                properties={"city": types.Schema(type="STRING"), "days": types.Schema(type="INTEGER")},
                required=["city", "days"],
            ),
        )
    ]
)


def connect(key=settings.KEY):
    options = types.HttpOptions(
        base_url=settings.BASE_URL,
        timeout=int(settings.TIMEOUT_SECONDS * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    return genai.Client(api_key=key, http_options=options)


@pytest.fixture(scope="module")
def client():
    return connect()


def test_text(client):
    config = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.3, max_output_tokens=500)
    answer = client.models.generate_content(model=GEMINI_MODEL, contents="hello", config=config)
    assert answer.text == "You said: hello"
    assert answer.candidates[0].finish_reason == types.FinishReason.STOP


def test_usage_is_exact(client):
    usage = client.models.generate_content(model=GEMINI_MODEL, contents=settings.EXACT_USAGE).usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (120, 64)
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (19, 12, 151)


def test_stream(client):
    chunks = list(client.models.generate_content_stream(model=GEMINI_MODEL, contents="one two three"))
    assert "".join(chunk.text or "" for chunk in chunks) == "You said: one two three"
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert chunks[-1].usage_metadata.total_token_count > 0


def test_unicode_survives_frames_of_one_byte(client):
    text = "żółw 🐢 日本 demo:split=1"
    chunks = client.models.generate_content_stream(model=GEMINI_MODEL, contents=text)
    assert "".join(chunk.text or "" for chunk in chunks) == f"You said: {text}"


@pytest.mark.anyio
async def test_async_stream():
    client = connect()
    stream = await client.aio.models.generate_content_stream(model=GEMINI_MODEL, contents="hello")
    assert "".join([chunk.text or "" async for chunk in stream]) == "You said: hello"


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_chat_keeps_its_history(client):
    chat = client.chats.create(model=GEMINI_MODEL)
    assert "".join(chunk.text or "" for chunk in chat.send_message_stream("first")) == "You said: first"
    assert chat.send_message("second").text == "You said: second"
    assert [turn.role for turn in chat.get_history(curated=True)][-2:] == ["user", "model"]


def test_tool_round_trip(client):
    config = types.GenerateContentConfig(tools=[WEATHER])
    history = [types.Content(role="user", parts=[types.Part(text="weather?")])]
    asked = client.models.generate_content(model=GEMINI_MODEL, contents=history, config=config)
    (call,) = asked.function_calls
    assert (call.name, call.args) == ("get_weather", {"city": "Paris", "days": 1})
    result = types.Part.from_function_response(name=call.name, response={"result": "21 degrees"})
    history += [asked.candidates[0].content, types.Content(role="user", parts=[result])]
    answer = client.models.generate_content(model=GEMINI_MODEL, contents=history, config=config)
    assert answer.text == "The tool answered: 21 degrees"


def test_automatic_function_calling(client):
    def get_weather(city: str) -> str:
        """Weather of a city."""
        return f"sunny in {city}"

    config = types.GenerateContentConfig(tools=[get_weather])
    answer = client.models.generate_content(model=GEMINI_MODEL, contents="weather?", config=config)
    assert answer.text == "The tool answered: sunny in Paris"


def test_streamed_tool_call(client):
    config = types.GenerateContentConfig(tools=[WEATHER])
    chunks = list(client.models.generate_content_stream(model=GEMINI_MODEL, contents="demo:parallel=2", config=config))
    calls = [call for chunk in chunks for call in chunk.function_calls or []]
    assert [call.args for call in calls] == [{"city": "Paris", "days": 1}] * 2


def test_structured_output(client):
    config = types.GenerateContentConfig(
        response_mime_type="application/json",
        response_schema={"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]},
    )
    assert client.models.generate_content(model=GEMINI_MODEL, contents="where?", config=config).parsed == {"city": "Paris"}


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        (types.Part.from_bytes(data=base64.b64decode(PNG_BASE64), mime_type="image/png"), "image/png of 68 bytes"),
        (types.Part.from_uri(file_uri=PNG_URL, mime_type="image/png"), PNG_URL),
    ],
    ids=["base64", "url"],
)
def test_vision(client, part, seen):
    answer = client.models.generate_content(model=GEMINI_MODEL, contents=["look", part])
    assert answer.text == f"You said: look I see {seen}."


def test_models(client):
    assert f"models/{GEMINI_MODEL}" in [model.name for model in client.models.list()]
    assert client.models.get(model=GEMINI_MODEL).name == f"models/{GEMINI_MODEL}"


def test_count_tokens(client):
    assert client.models.count_tokens(model=GEMINI_MODEL, contents="demo:in=77").total_tokens == 77


def test_embeddings(client):
    config = types.EmbedContentConfig(output_dimensionality=8)
    answer = client.models.embed_content(model=GEMINI_MODEL, contents="hello", config=config)
    assert len(answer.embeddings[0].values) == 8


def test_malformed_input_is_400(client):
    config = types.GenerateContentConfig(http_options=types.HttpOptions(extra_body={"noSuchField": 1}))
    with pytest.raises(errors.ClientError) as caught:
        client.models.generate_content(model=GEMINI_MODEL, contents="hello", config=config)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")


def test_unknown_model_is_404(client):
    with pytest.raises(errors.ClientError) as caught:
        client.models.generate_content(model=settings.MISSING_MODEL, contents="hello")
    assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")
    with pytest.raises(errors.ClientError) as caught:
        client.models.get(model=settings.MISSING_MODEL)
    assert caught.value.code == 404


@pytest.mark.parametrize(
    ("status", "error", "name"),
    [(429, errors.ClientError, "RESOURCE_EXHAUSTED"), (500, errors.ServerError, "INTERNAL"), (503, errors.ServerError, "UNAVAILABLE")],
    ids=["429", "500", "503"],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_failures_of_the_provider(client, status, error, name, stream):
    call = client.models.generate_content_stream if stream else client.models.generate_content
    with pytest.raises(error) as caught:
        list(call(model=FAILING_GEMINI_MODEL, contents=f"demo:error={status}"))
    assert (caught.value.code, caught.value.status) == (status, name)


def test_error_inside_a_stream(client):
    with pytest.raises(errors.ServerError) as caught:
        list(client.models.generate_content_stream(model=FAILING_GEMINI_MODEL, contents="demo:inband-error=2"))
    assert caught.value.code == 503


@pytest.mark.gateway_only
def test_a_cut_stream_ends_with_an_error_event(client):
    with pytest.raises(errors.ServerError) as caught:
        list(client.models.generate_content_stream(model=FAILING_GEMINI_MODEL, contents="demo:cut=2"))
    assert caught.value.status == "UNAVAILABLE"


@pytest.mark.gateway_only
def test_wrong_key_is_401():
    # The client closes its connections when it is collected, so it has to outlive the call.
    client = connect(settings.WRONG_KEY)
    with pytest.raises(errors.ClientError) as caught:
        client.models.generate_content(model=GEMINI_MODEL, contents="hello")
    assert (caught.value.code, caught.value.status) == (401, "UNAUTHENTICATED")


@pytest.mark.gateway_only
@pytest.mark.parametrize("key", [settings.DISABLED_KEY, settings.EXPIRED_KEY, settings.LIMITED_KEY], ids=["disabled", "expired", "limited"])
def test_keys_without_the_right_are_403(key):
    assert key, "the run gives such a key"
    client = connect(key)
    with pytest.raises(errors.ClientError) as caught:
        list(client.models.generate_content_stream(model=GEMINI_MODEL, contents="hello"))
    assert (caught.value.code, caught.value.status) == (403, "PERMISSION_DENIED")
