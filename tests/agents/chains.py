"""LangChain with each of its vendors' classes, on models of the other shapes: text, a stream, a tool."""

import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

KEY, BASE = os.environ["SVC_AGENTS_KEY"], os.environ["SVC_AGENTS_URL"]

CLIENTS = {
    "chat": (lambda name: ChatOpenAI(model=name, api_key=KEY, base_url=f"{BASE}/v1", stream_usage=True), ["on-messages", "on-generate"]),
    "responses": (lambda name: ChatOpenAI(model=name, api_key=KEY, base_url=f"{BASE}/v1", use_responses_api=True),
                  ["on-chat", "on-messages", "on-generate"]),
    "messages": (lambda name: ChatAnthropic(model=name, api_key=KEY, base_url=BASE, max_tokens=1000), ["on-chat", "on-generate"]),
    "generate": (lambda name: ChatGoogleGenerativeAI(model=name, google_api_key=KEY, base_url=BASE), ["on-chat", "on-messages"]),
}


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return "clear"


def text_of(message):
    return message.text if isinstance(message.text, str) else message.text()


for client, (make, models) in CLIENTS.items():
    for name in models:
        model = make(name)
        answer = model.invoke("Hello")
        assert "Hello" in text_of(answer), (client, name, answer)
        assert answer.usage_metadata["output_tokens"] > 0, (client, name, answer)
        streamed = "".join(text_of(chunk) for chunk in model.stream("Hello"))
        assert "Hello" in streamed, (client, name, streamed)
        question = HumanMessage("The weather in Paris?")
        asking = model.bind_tools([weather])
        call = asking.invoke([question])
        assert call.tool_calls, (client, name, call)
        results = [ToolMessage(weather.invoke(one["args"]), tool_call_id=one["id"]) for one in call.tool_calls]
        final = asking.invoke([question, call, *results])
        assert text_of(final), (client, name, final)
        print(f"langchain: {client} on {name}")
