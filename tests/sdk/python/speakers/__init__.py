"""Each vendor's SDK behind the same few words, so that one test runs with every one of them.

A speaker keeps the history in the SDK's own objects and sends back exactly what it received.
"""

from .base import Answer, Tool, Usage
from .chat import Chat
from .gemini import Gemini
from .messages import Messages
from .responses import Responses

ALL = [Chat(), Responses(), Messages(), Gemini()]
CHAT, RESPONSES, MESSAGES, GEMINI = ALL

__all__ = ["ALL", "CHAT", "GEMINI", "MESSAGES", "RESPONSES", "Answer", "Tool", "Usage"]
