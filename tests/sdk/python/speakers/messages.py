"""The Anthropic SDK."""

import anthropic

import kinds
import settings

from .base import Answer, Call, Options, Usage

FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tools", "refusal": "filter"}
LIMIT = 4096
BUDGET = 1024


class Messages:
    name = "messages"
    errors = {
        400: anthropic.BadRequestError,
        404: anthropic.NotFoundError,
        429: anthropic.RateLimitError,
        500: anthropic.InternalServerError,
        503: anthropic.APIStatusError,
    }
    stream_error = anthropic.APIStatusError
    has_stop = True
    counts = True
    written = True

    def __str__(self):
        return self.name

    def direct(self, kind):
        return kind is kinds.ANTHROPIC

    def shows(self, kind):
        return kind.shows_thoughts

    def connect(self):
        self.client = anthropic.Anthropic(
            base_url=settings.BASE_URL, api_key=settings.KEY, max_retries=0, timeout=settings.TIMEOUT_SECONDS
        )

    def start(self):
        return []

    def say(self, history, text, picture=None):
        parts = [{"type": "text", "text": text}]
        if picture:
            parts.append({"type": "image", "source": source(picture)})
        content = parts if picture else text
        history.append({"role": "user", "content": content})

    def instruct(self, history, text):
        # Instructions in the middle are for few models only; the others get them where they belong.
        history.append(text)

    def results(self, history, answer, texts):
        def result(call, text):
            failed = {"is_error": True} if text.startswith("Error: ") else {}
            return {"type": "tool_result", "tool_use_id": call.id, "content": text.removeprefix("Error: "), **failed}

        content = [result(call, text) for call, text in zip(answer.calls, texts, strict=True)]
        history.append({"role": "user", "content": content})

    def ask(self, kind, history, options=None, model=None):
        options = options or Options()
        middle = [turn for turn in history if isinstance(turn, str)]
        turns = [turn for turn in history if not isinstance(turn, str)]
        request = {"model": model or kind.model, "messages": turns, **self.settings(kind, options)}
        system = [*options.system, *middle]
        if system:
            blocks = [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}} for text in system]
            request["system"] = system[0] if len(system) == 1 else blocks
        if options.stream:
            with self.client.messages.stream(**request) as stream:
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**request)
        history.append({"role": "assistant", "content": message.content})
        return self.answer(message)

    def settings(self, kind, options):
        more = {"max_tokens": options.limit or LIMIT}
        if options.tools:
            more["tools"] = [
                {"name": tool.name, "description": "A tool", "input_schema": tool.schema} for tool in options.tools
            ]
        choice = {}
        if options.choice:
            words = {"auto": {"type": "auto"}, "any": {"type": "any"}, "none": {"type": "none"}}
            choice = words.get(options.choice, {"type": "tool", "name": options.choice})
        if not options.parallel:
            choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
        if choice:
            more["tool_choice"] = choice
        if options.schema:
            more["output_config"] = {"format": {"type": "json_schema", "schema": options.schema}}
        if options.stop:
            more["stop_sequences"] = [options.stop]
        if options.thinks:
            budget = {"type": "enabled", "budget_tokens": BUDGET}
            more["thinking"] = {"type": "adaptive", "display": "summarized"} if kind.adaptive else budget
        return more

    def answer(self, message):
        blocks = lambda kind: [block for block in message.content if block.type == kind]
        usage = message.usage
        cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        return Answer(
            text="".join(block.text for block in blocks("text")),
            thoughts="".join(block.thinking for block in blocks("thinking")),
            calls=[Call(block.id, block.name, block.input) for block in blocks("tool_use")],
            finish=FINISH[message.stop_reason],
            usage=Usage(usage.input_tokens + cached + written, cached, usage.output_tokens, written),
            own=message,
        )

    def count(self, kind, text):
        messages = [{"role": "user", "content": text}]
        return self.client.messages.count_tokens(model=kind.model, messages=messages).input_tokens

    def caught(self, error):
        return error.status_code, error.response.headers.get("x-svc-error-code")

    def begin(self, kind, text):
        messages = [{"role": "user", "content": text}]
        return self.client.messages.create(model=kind.failing, max_tokens=LIMIT, messages=messages, stream=True)


def source(picture):
    if not picture.startswith("data:"):
        return {"type": "url", "url": picture}
    kind, data = picture.removeprefix("data:").split(";base64,")
    return {"type": "base64", "media_type": kind, "data": data}
