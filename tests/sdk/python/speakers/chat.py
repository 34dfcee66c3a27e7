"""The OpenAI SDK on chat completions."""

import json

import openai

import kinds
import settings

from .base import Answer, Call, Options, Usage

FINISH = {"stop": "stop", "length": "length", "tool_calls": "tools", "content_filter": "filter"}
ERRORS = {
    400: openai.BadRequestError,
    404: openai.NotFoundError,
    429: openai.RateLimitError,
    500: openai.InternalServerError,
    503: openai.InternalServerError,
}


def client():
    return openai.OpenAI(
        base_url=f"{settings.BASE_URL}/v1", api_key=settings.KEY, max_retries=0, timeout=settings.TIMEOUT_SECONDS
    )


class Chat:
    name = "chat"
    errors = ERRORS
    stream_error = openai.APIError
    has_stop = True
    counts = False
    written = True

    def __str__(self):
        return self.name

    def direct(self, kind):
        return kind is kinds.OPENAI

    def shows(self, kind):
        return kind.shows_thoughts

    def connect(self):
        self.client = client()

    def start(self):
        return []

    def say(self, history, text, picture=None):
        parts = [{"type": "image_url", "image_url": {"url": picture}}] if picture else []
        history.append({"role": "user", "content": [{"type": "text", "text": text}, *parts] if parts else text})

    def instruct(self, history, text):
        history.append({"role": "developer", "content": text})

    def results(self, history, answer, texts):
        for call, text in zip(answer.calls, texts, strict=True):
            history.append({"role": "tool", "tool_call_id": call.id, "content": text})

    def ask(self, kind, history, options=None, model=None):
        request = {"model": model or kind.model, "messages": history, **self.settings(options or Options())}
        if options and options.system:
            content = [{"type": "text", "text": text} for text in options.system]
            content = options.system[0] if len(options.system) == 1 else content
            request["messages"] = [{"role": "system", "content": content}, *history]
        if options and options.stream:
            answer = self.streamed(request)
        else:
            answer = self.answer(self.client.chat.completions.create(**request))
        history.append(answer.own)
        return answer

    def settings(self, options):
        more = {}
        if options.tools:
            function = lambda tool: {"name": tool.name, "description": "A tool", "parameters": tool.schema}
            more["tools"] = [{"type": "function", "function": function(tool)} for tool in options.tools]
        if options.choice:
            words = {"auto": "auto", "any": "required", "none": "none"}
            named = {"type": "function", "function": {"name": options.choice}}
            more["tool_choice"] = words.get(options.choice, named)
        if not options.parallel:
            more["parallel_tool_calls"] = False
        if options.schema:
            schema = {"name": "answer", "schema": options.schema, "strict": True}
            more["response_format"] = {"type": "json_schema", "json_schema": schema}
        if options.stop:
            more["stop"] = [options.stop]
        if options.limit:
            more["max_completion_tokens"] = options.limit
        if options.thinks:
            more["reasoning_effort"] = "low"
        return more

    def streamed(self, request):
        with self.client.chat.completions.stream(**request, stream_options={"include_usage": True}) as stream:
            try:
                return self.answer(stream.until_done().get_final_completion())
            except openai.LengthFinishReasonError as cut:
                # The SDK takes a cut answer for a failed one.
                return self.answer(cut.completion)

    def answer(self, completion):
        (choice,) = completion.choices
        message = choice.message
        calls = [Call(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
        usage = completion.usage
        details = usage.prompt_tokens_details
        return Answer(
            text=message.content or "",
            thoughts=getattr(message, "reasoning_content", None) or "",
            calls=calls,
            finish=FINISH[choice.finish_reason],
            usage=Usage(
                input=usage.prompt_tokens,
                cached=details.cached_tokens if details else 0,
                output=usage.completion_tokens,
                written=getattr(details, "cache_write_tokens", None) or 0,
                reasoning=usage.completion_tokens_details.reasoning_tokens if usage.completion_tokens_details else None,
            ),
            own=replayable(message),
        )

    def caught(self, error):
        assert error.response.status_code == error.status_code
        return error.status_code, error.response.headers.get("x-svc-error-code")

    def begin(self, kind, text):
        request = {"model": kind.failing, "messages": [{"role": "user", "content": text}], "stream": True}
        return self.client.chat.completions.create(**request)


def replayable(message):
    """The message without what the SDK's own parsing added, which the vendor refuses."""
    added = {"parsed": True, "tool_calls": {"__all__": {"function": {"parsed_arguments"}}}}
    plain = message.model_dump(exclude=added, exclude_unset=True)
    return {name: value for name, value in plain.items() if value != []}
