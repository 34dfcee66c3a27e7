"""The OpenAI SDK on responses."""

import json

import openai

import kinds

from .base import Answer, Call, Options, Usage
from .chat import ERRORS, client


ENDS = ("response.completed", "response.incomplete")


class Responses:
    name = "responses"
    errors = ERRORS
    stream_error = openai.APIError
    has_stop = False
    counts = False
    written = True

    def __str__(self):
        return self.name

    def direct(self, kind):
        return kind is kinds.OPENAI

    def shows(self, kind):
        # Where the vendor serves this shape itself, it sums its thoughts up.
        return True

    def connect(self):
        self.client = client()

    def start(self):
        return []

    def say(self, history, text, picture=None):
        parts = [{"type": "input_text", "text": text}]
        parts += [{"type": "input_image", "image_url": picture, "detail": "auto"}] if picture else []
        history.append({"role": "user", "content": parts if picture else text})

    def instruct(self, history, text):
        history.append({"role": "developer", "content": text})

    def results(self, history, answer, texts):
        for call, text in zip(answer.calls, texts, strict=True):
            history.append({"type": "function_call_output", "call_id": call.id, "output": text})

    def ask(self, kind, history, options=None, model=None):
        options = options or Options()
        request = {"model": model or kind.model, "input": history, "store": False, **self.settings(options)}
        if len(options.system) == 1:
            request["instructions"] = options.system[0]
        elif options.system:
            request["input"] = [*({"role": "system", "content": text} for text in options.system), *history]
        if options.stream:
            with self.client.responses.stream(**request) as stream:
                # A cut answer has no other place in this SDK than its last event.
                response = [event.response for event in stream if event.type in ENDS][-1]
        else:
            response = self.client.responses.create(**request)
        history += response.output
        return self.answer(response)

    def settings(self, options):
        more = {}
        if options.tools:
            more["tools"] = [
                {"type": "function", "name": tool.name, "description": "A tool", "parameters": tool.schema, "strict": False}
                for tool in options.tools
            ]
        if options.choice:
            words = {"auto": "auto", "any": "required", "none": "none"}
            more["tool_choice"] = words.get(options.choice, {"type": "function", "name": options.choice})
        if not options.parallel:
            more["parallel_tool_calls"] = False
        if options.schema:
            more["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": options.schema, "strict": True}}
        if options.limit:
            more["max_output_tokens"] = options.limit
        if options.thinks:
            more["reasoning"] = {"effort": "low", "summary": "auto"}
            more["include"] = ["reasoning.encrypted_content"]
        return more

    def answer(self, response):
        of = lambda kind: [item for item in response.output if item.type == kind]
        calls = [Call(item.call_id, item.name, json.loads(item.arguments)) for item in of("function_call")]
        thoughts = [part.text for item in of("reasoning") for part in item.summary]
        usage = response.usage
        return Answer(
            text=response.output_text,
            thoughts="".join(thoughts),
            calls=calls,
            finish=finish(response, calls),
            usage=Usage(
                input=usage.input_tokens,
                cached=usage.input_tokens_details.cached_tokens,
                output=usage.output_tokens,
                written=getattr(usage.input_tokens_details, "cache_write_tokens", None) or 0,
                reasoning=usage.output_tokens_details.reasoning_tokens,
            ),
            own=response.output,
        )

    def caught(self, error):
        return error.status_code, error.response.headers.get("x-svc-error-code")

    def begin(self, kind, text):
        for event in self.client.responses.create(model=kind.failing, input=text, stream=True):
            # A failed response is an event like any other for this SDK.
            if event.type == "response.failed" or event.type == "error":
                raise openai.APIError("the response failed", request=None, body=None)
            yield event


def finish(response, calls):
    if response.status == "incomplete":
        return {"max_output_tokens": "length", "content_filter": "filter"}[response.incomplete_details.reason]
    assert response.status == "completed"
    return "tools" if calls else "stop"
