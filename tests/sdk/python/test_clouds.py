"""The vendors' SDKs in the form they have for clouds: the gateway serves the same addresses, whose project and place it ignores."""

import json
import urllib.request

import pytest
from anthropic import AnthropicVertex, NotFoundError
from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

import kinds
import settings

pytestmark = pytest.mark.gateway_only


@pytest.fixture(scope="module")
def google():
    options = types.HttpOptions(base_url=settings.BASE_URL, timeout=int(settings.TIMEOUT_SECONDS * 1000))
    credentials = Credentials(settings.KEY)
    return genai.Client(vertexai=True, project="a-project", location="a-place", credentials=credentials, http_options=options)


@pytest.mark.parametrize("kind", [kinds.GEMINI, kinds.VERTEX, kinds.OPENAI, kinds.BEDROCK], ids=str)
def test_google_on_vertex(google, kind):
    assert google.models.generate_content(model=kind.model, contents="hello").text == "You said: hello"
    chunks = google.models.generate_content_stream(model=kind.model, contents="hello")
    assert "".join(chunk.text or "" for chunk in chunks) == "You said: hello"


def test_anthropic_on_vertex_is_told_where_to_go():
    client = AnthropicVertex(
        region="a-place", project_id="a-project", access_token=settings.KEY, base_url=f"{settings.BASE_URL}/v1", max_retries=0
    )
    with pytest.raises(NotFoundError) as caught:
        messages = [{"role": "user", "content": "hello"}]
        client.messages.create(model=kinds.VERTEX_CLAUDE.model, max_tokens=99, messages=messages)
    assert "/v1/messages" in caught.value.message


def test_one_token_serves_many_requests(google):
    for _ in range(3):
        google.models.generate_content(model=kinds.VERTEX.model, contents="hello")
    with urllib.request.urlopen(f"{settings.DEMO_URL}/__tokens") as answer:
        granted = json.load(answer)["granted"]
    # One for each provider, and one more should two requests come first at the same time.
    assert 1 <= granted <= 4
