"""Where the suites connect and what they ask for, all from the environment."""

import os

BASE_URL = os.environ["SVC_SDK_BASE_URL"].rstrip("/")
KEY = os.environ["SVC_SDK_KEY"]
# Set by the run through the gateway: keys, roles and unknown models mean something only there.
THROUGH_GATEWAY = os.environ.get("SVC_SDK_GATEWAY") == "1"
DISABLED_KEY = os.environ.get("SVC_SDK_DISABLED_KEY", "")
EXPIRED_KEY = os.environ.get("SVC_SDK_EXPIRED_KEY", "")
LIMITED_KEY = os.environ.get("SVC_SDK_LIMITED_KEY", "")
WRONG_KEY = "sk-this-key-does-not-exist"

CHAT_MODEL = os.environ.get("SVC_SDK_CHAT_MODEL", "demo-chat")
MESSAGES_MODEL = os.environ.get("SVC_SDK_MESSAGES_MODEL", "demo-messages")
GEMINI_MODEL = os.environ.get("SVC_SDK_GEMINI_MODEL", "demo-gemini")
# On providers of their own, so that asked-for failures do not count against the others.
FAILING_CHAT_MODEL = os.environ.get("SVC_SDK_FAILING_CHAT_MODEL", "demo-chat-failing")
FAILING_MESSAGES_MODEL = os.environ.get("SVC_SDK_FAILING_MESSAGES_MODEL", "demo-messages-failing")
FAILING_GEMINI_MODEL = os.environ.get("SVC_SDK_FAILING_GEMINI_MODEL", "demo-gemini-failing")
MISSING_MODEL = "missing-model"

TIMEOUT_SECONDS = 20.0
PNG_BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
PNG = f"data:image/png;base64,{PNG_BASE64}"
DEMO_URL = os.environ.get("SVC_SDK_DEMO_URL", BASE_URL)
PNG_URL = "https://example.com/picture.png"
# 120 tokens in, 64 of them from a cache; 31 out, 12 of them reasoning.
EXACT_USAGE = "count demo:in=120 demo:cached=64 demo:out=31 demo:reasoning=12"
