"""What every SDK's answers come down to."""

from dataclasses import dataclass, field

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Tool:
    name: str = "get_weather"
    schema: dict = field(default_factory=lambda: WEATHER)


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: dict


@dataclass(frozen=True)
class Usage:
    """All input, cached parts included; all output, reasoning included."""

    input: int
    cached: int
    output: int
    # None where the shape has no place for it.
    written: int | None = None
    reasoning: int | None = None


@dataclass
class Answer:
    text: str
    thoughts: str
    calls: list
    # stop, length, tools or filter
    finish: str
    usage: Usage
    # What goes into the history.
    own: object


@dataclass
class Options:
    """What a request may ask for beside its text."""

    system: list = field(default_factory=list)
    tools: list = field(default_factory=list)
    # auto, any, none or a tool's name
    choice: str | None = None
    parallel: bool = True
    schema: dict | None = None
    stop: str | None = None
    limit: int | None = None
    thinks: bool = False
    stream: bool = False
