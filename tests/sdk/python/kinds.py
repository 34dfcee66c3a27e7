"""The providers of the matrix: one model of every kind, and what its vendor's models show and accept."""

from dataclasses import dataclass

import settings


@dataclass(frozen=True)
class Kind:
    model: str
    shape: str
    # Whether an answer says what the model thought; the chat vendor's own only counts it.
    shows_thoughts: bool = True
    # Whether the model reasons for a client of another shape, which does not know the vendor's names.
    reasons: bool = True
    # Whether the model can be made to call a tool.
    forced_tools: bool = True
    # Whether the vendor counts what it wrote to a cache.
    counts_writes: bool = True
    # Whether pictures may be given by address.
    addresses: bool = False
    # Whether the model decides itself how much it thinks.
    adaptive: bool = False

    def __str__(self):
        return self.model

    @property
    def failing(self):
        return self.model + "-failing" if settings.THROUGH_GATEWAY else self.model


CHAT, MESSAGES, GENERATE = "chat_completions", "messages", "generate_content"

OPENAI = Kind("on-openai", CHAT, shows_thoughts=False, reasons=False, addresses=True)
COMPATIBLE = Kind("on-compatible", CHAT, addresses=True)
AZURE = Kind("on-azure", CHAT, shows_thoughts=False, reasons=False, addresses=True)
AZURE_V1 = Kind("on-azure-v1", CHAT, shows_thoughts=False, reasons=False, addresses=True)
ANTHROPIC = Kind("on-anthropic", MESSAGES, addresses=True)
ANTHROPIC_NEW = Kind("on-anthropic-new", MESSAGES, forced_tools=False, addresses=True, adaptive=True)
BEDROCK = Kind("on-bedrock", MESSAGES)
GEMINI = Kind("on-gemini", GENERATE, counts_writes=False)
GEMINI_3 = Kind("on-gemini-3", GENERATE, counts_writes=False)
VERTEX = Kind("on-vertex", GENERATE, counts_writes=False)
VERTEX_CLAUDE = Kind("on-vertex-claude", MESSAGES)

# Not part of every test: what they refuse needs tests of its own.
GPT = Kind("on-openai-gpt", CHAT)
CLAUDE_3 = Kind("on-anthropic-old", MESSAGES)

ALL = [OPENAI, COMPATIBLE, AZURE, AZURE_V1, ANTHROPIC, ANTHROPIC_NEW, BEDROCK, GEMINI, GEMINI_3, VERTEX, VERTEX_CLAUDE]
# One of each where a failing twin is declared.
FALLIBLE = [OPENAI, AZURE, ANTHROPIC, BEDROCK, GEMINI, VERTEX, VERTEX_CLAUDE]
# Pairwise unlike in what they sign and how they want it back.
UNLIKE = [OPENAI, COMPATIBLE, ANTHROPIC, BEDROCK, GEMINI, GEMINI_3, VERTEX]


def cells(speakers, kinds=None):
    """Every speaker on every kind; without the gateway only on those of its own shape."""
    kinds = ALL if kinds is None else kinds
    return [(speaker, kind) for speaker in speakers for kind in kinds if settings.THROUGH_GATEWAY or speaker.direct(kind)]
