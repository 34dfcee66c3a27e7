"""The google-genai SDK."""

import base64

from google import genai
from google.genai import types
from google.genai.errors import APIError, ClientError, ServerError

import kinds
import settings

from .base import Answer, Call, Options, Usage

FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "filter"}
BUDGET = 1024


class Gemini:
    name = "gemini"
    errors = {400: ClientError, 404: ClientError, 429: ClientError, 500: ServerError, 503: ServerError}
    stream_error = APIError
    has_stop = True
    counts = True
    written = False

    def __str__(self):
        return self.name

    def direct(self, kind):
        return kind in (kinds.GEMINI, kinds.GEMINI_3)

    def shows(self, kind):
        return kind.shows_thoughts

    def connect(self):
        options = types.HttpOptions(
            base_url=settings.BASE_URL,
            timeout=int(settings.TIMEOUT_SECONDS * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        self.client = genai.Client(api_key=settings.KEY, http_options=options)

    def start(self):
        return []

    def say(self, history, text, picture=None):
        parts = [types.Part(text=text)]
        if picture and picture.startswith("data:"):
            kind, data = picture.removeprefix("data:").split(";base64,")
            parts.append(types.Part.from_bytes(data=base64.b64decode(data), mime_type=kind))
        elif picture:
            parts.append(types.Part.from_uri(file_uri=picture, mime_type="image/png"))
        history.append(types.Content(role="user", parts=parts))

    def instruct(self, history, text):
        # There are no instructions in the middle.
        history.append(text)

    def results(self, history, answer, texts):
        def part(call, text):
            response = {"error": text.removeprefix("Error: ")} if text.startswith("Error: ") else {"result": text}
            return types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))

        parts = [part(call, text) for call, text in zip(answer.calls, texts, strict=True)]
        history.append(types.Content(role="user", parts=parts))

    def ask(self, kind, history, options=None, model=None):
        options = options or Options()
        middle = [turn for turn in history if isinstance(turn, str)]
        contents = [turn for turn in history if not isinstance(turn, str)]
        config = self.settings(options)
        system = [*options.system, *middle]
        if system:
            config["system_instruction"] = system[0] if len(system) == 1 else system
        request = {"model": model or kind.model, "contents": contents, "config": types.GenerateContentConfig(**config)}
        if options.stream:
            chunks = list(self.client.models.generate_content_stream(**request))
        else:
            chunks = [self.client.models.generate_content(**request)]
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        history.append(types.Content(role="model", parts=parts))
        return self.answer(parts, chunks[-1])

    def settings(self, options):
        more = {"automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True)}
        if options.tools:
            declared = [
                types.FunctionDeclaration(name=tool.name, description="A tool", parameters_json_schema=tool.schema)
                for tool in options.tools
            ]
            more["tools"] = [types.Tool(function_declarations=declared)]
        if options.choice:
            modes = {"auto": "AUTO", "any": "ANY", "none": "NONE"}
            mode = modes.get(options.choice, "ANY")
            names = None if options.choice in modes else [options.choice]
            calling = types.FunctionCallingConfig(mode=mode, allowed_function_names=names)
            more["tool_config"] = types.ToolConfig(function_calling_config=calling)
        if options.schema:
            more |= {"response_mime_type": "application/json", "response_json_schema": options.schema}
        if options.stop:
            more["stop_sequences"] = [options.stop]
        if options.limit:
            more["max_output_tokens"] = options.limit
        if options.thinks:
            more["thinking_config"] = types.ThinkingConfig(include_thoughts=True, thinking_budget=BUDGET)
        return more

    def answer(self, parts, last):
        called = [part.function_call for part in parts if part.function_call]
        usage = last.usage_metadata
        finish = FINISH[last.candidates[0].finish_reason.value]
        return Answer(
            text="".join(part.text for part in parts if part.text and not part.thought),
            thoughts="".join(part.text for part in parts if part.text and part.thought),
            calls=[Call(call.id, call.name, call.args or {}) for call in called],
            finish="tools" if called and finish == "stop" else finish,
            usage=Usage(
                input=usage.prompt_token_count,
                cached=usage.cached_content_token_count or 0,
                output=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
                reasoning=usage.thoughts_token_count or 0,
            ),
            own=parts,
        )

    def count(self, kind, text):
        return self.client.models.count_tokens(model=kind.model, contents=text).total_tokens

    def caught(self, error):
        response = error.response
        headers = getattr(response, "headers", {})
        return error.code, headers.get("x-svc-error-code")

    def begin(self, kind, text):
        return self.client.models.generate_content_stream(model=kind.failing, contents=text)
