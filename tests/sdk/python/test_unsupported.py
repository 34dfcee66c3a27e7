"""What a shape can ask for and another cannot give: refused by name, or left out and written down."""

import anthropic
import openai
import pytest
from google.genai import errors, types

import kinds
import speakers

pytestmark = pytest.mark.gateway_only

CHAT_ONLY = {
    "several answers": {"n": 2},
    "log probabilities": {"logprobs": True},
    "sound": {"modalities": ["text", "audio"], "audio": {"format": "wav", "voice": "alloy"}},
}
MESSAGES_ONLY = {
    "a container": {"container": "container_1"},
    "servers of tools": {"mcp_servers": [{"type": "url", "name": "a", "url": "https://example.com/mcp"}]},
    "an empty answer": {"max_tokens": 0},
}
GENERATE_ONLY = {
    "cached content": {"cached_content": "cachedContents/one"},
    "code execution": {"tools": [types.Tool(code_execution=types.ToolCodeExecution())]},
}


@pytest.fixture(scope="module", autouse=True)
def connected():
    for speaker in speakers.ALL:
        speaker.connect()


def user(text):
    return [{"role": "user", "content": text}]


def refused(response):
    assert response.headers["x-svc-error-code"] == "unsupported_translation"
    assert response.headers["x-svc-error-origin"] == "gateway"


@pytest.mark.parametrize("more", CHAT_ONLY.values(), ids=CHAT_ONLY)
@pytest.mark.parametrize("kind", [kinds.ANTHROPIC, kinds.BEDROCK, kinds.VERTEX_CLAUDE], ids=str)
def test_chat_asks_for_what_messages_cannot_give(kind, more):
    with pytest.raises(openai.BadRequestError) as caught:
        speakers.CHAT.client.chat.completions.create(model=kind.model, messages=user("hi"), **more)
    refused(caught.value.response)
    assert caught.value.type == "invalid_request_error"
    assert any(name in caught.value.message for name in more)


def test_chat_sends_sound_to_a_model_that_cannot_hear():
    sound = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    with pytest.raises(openai.BadRequestError) as caught:
        speakers.CHAT.client.chat.completions.create(model=kinds.ANTHROPIC.model, messages=user([sound]))
    refused(caught.value.response)


@pytest.mark.parametrize("more", MESSAGES_ONLY.values(), ids=MESSAGES_ONLY)
@pytest.mark.parametrize("kind", [kinds.OPENAI, kinds.AZURE, kinds.GEMINI, kinds.VERTEX], ids=str)
def test_messages_asks_for_what_others_cannot_give(kind, more):
    with pytest.raises(anthropic.BadRequestError) as caught:
        request = {"model": kind.model, "max_tokens": 99, "messages": user("hi"), "extra_body": more}
        speakers.MESSAGES.client.messages.create(**request)
    refused(caught.value.response)
    assert caught.value.body["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("more", GENERATE_ONLY.values(), ids=GENERATE_ONLY)
@pytest.mark.parametrize("kind", [kinds.OPENAI, kinds.AZURE, kinds.ANTHROPIC, kinds.BEDROCK], ids=str)
def test_generate_content_asks_for_what_others_cannot_give(kind, more):
    with pytest.raises(errors.ClientError) as caught:
        config = types.GenerateContentConfig(**more)
        speakers.GEMINI.client.models.generate_content(model=kind.model, contents="hi", config=config)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    refused(caught.value.response)


@pytest.mark.parametrize("kind", [kinds.ANTHROPIC, kinds.BEDROCK], ids=str)
def test_several_candidates_are_refused_where_there_is_one(kind):
    with pytest.raises(errors.ClientError) as caught:
        config = types.GenerateContentConfig(candidate_count=2)
        speakers.GEMINI.client.models.generate_content(model=kind.model, contents="hi", config=config)
    refused(caught.value.response)


@pytest.mark.parametrize(
    ("kind", "more", "lost"),
    [
        (kinds.ANTHROPIC, {"seed": 7, "logit_bias": {"1": 1}}, ["seed", "logit_bias"]),
        (kinds.BEDROCK, {"presence_penalty": 0.5}, ["presence_penalty"]),
        (kinds.GEMINI, {"logit_bias": {"1": 1}, "verbosity": "low"}, ["logit_bias", "verbosity"]),
        (kinds.GEMINI_3, {"presence_penalty": 0.5}, ["presence_penalty"]),
    ],
    ids=str,
)
def test_what_is_left_out_of_chat_is_written_down(kind, more, lost):
    raw = speakers.CHAT.client.chat.completions.with_raw_response.create(model=kind.model, messages=user("hi"), **more)
    written = raw.headers["x-svc-translation"]
    assert all(name in written for name in lost), written
    assert raw.parse().choices[0].message.content == "You said: hi"


@pytest.mark.parametrize("kind", [kinds.OPENAI, kinds.AZURE], ids=str)
def test_what_is_left_out_of_messages_is_written_down(kind):
    request = {"model": kind.model, "max_tokens": 99, "messages": user("hi"), "extra_body": {"top_k": 5, "inference_geo": "eu"}}
    raw = speakers.MESSAGES.client.messages.with_raw_response.create(**request)
    written = raw.headers["x-svc-translation"]
    assert "inference_geo" in written, written


def test_a_pair_of_one_shape_is_not_translated():
    raw = speakers.CHAT.client.chat.completions.with_raw_response.create(model=kinds.AZURE.model, messages=user("hi"))
    assert "x-svc-translation" not in raw.headers


def test_an_orphaned_result_is_the_clients_mistake():
    orphan = {"role": "tool", "tool_call_id": "call_unknown", "content": "lost"}
    for kind in (kinds.ANTHROPIC, kinds.GEMINI):
        with pytest.raises(openai.BadRequestError) as caught:
            speakers.CHAT.client.chat.completions.create(model=kind.model, messages=[*user("hi"), orphan])
        assert caught.value.response.headers["x-svc-error-code"] == "invalid_request"


def test_a_picture_at_the_machines_own_address_is_not_fetched():
    picture = {"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest/picture.png"}}
    with pytest.raises(openai.BadRequestError):
        speakers.CHAT.client.chat.completions.create(model=kinds.ANTHROPIC.model, messages=user([picture]))
