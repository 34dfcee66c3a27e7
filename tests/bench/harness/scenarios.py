"""What is asked of every target."""
import base64
import json
import random
from dataclasses import dataclass

FAST = "c200-d0"


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    connections: int
    shape: str = FAST
    streams: bool = False
    image: bool = False
    rate: int = 0
    count: int = 0
    ramp_ms: int = 0
    warm_up_ms: int = 300
    least_seconds: float = 0.0
    fresh: bool = False
    translated: bool = False

    @property
    def deltas(self):
        return int(self.shape.split("-")[0][1:])

    @property
    def paced(self):
        """The rate is given by the scenario and says nothing about the target."""
        return bool(self.rate) or self.streams and self.shape != FAST


SCENARIOS = {s.name: s for s in [
    Scenario("S1", "small request, JSON answer, 32 connections, closed loop", 32),
    Scenario("S1R", "as S1 at a constant 100 requests a second", 64, rate=100, least_seconds=2),
    Scenario("S2", "8 streams at once, 200 deltas 5 ms apart", 8, shape="c200-d5000", streams=True, warm_up_ms=0),
    Scenario("S2B", "8 streams at once, 200 deltas back to back", 8, streams=True),
    Scenario("S5", "request of 1 MB with an image, JSON answer, 4 connections", 4, image=True),
    Scenario("S6", "1,000 streams at once in a fresh process, 20 deltas 250 ms apart", 1000, shape="c20-d250000", streams=True,
             count=1000, ramp_ms=1000, warm_up_ms=0, least_seconds=5, fresh=True),
    Scenario("S3", "as S1, chat completions translated for a messages provider", 32, translated=True),
    Scenario("S4", "as S2, translated", 8, shape="c200-d5000", streams=True, warm_up_ms=0, translated=True),
    Scenario("S4B", "as S2B, translated", 8, streams=True, translated=True),
    Scenario("S5X", "as S5, translated", 4, image=True, translated=True),
    Scenario("S6X", "as S6, translated", 1000, shape="c20-d250000", streams=True,
             count=1000, ramp_ms=1000, warm_up_ms=0, least_seconds=5, fresh=True, translated=True),
]}

INSTRUCTIONS = (
    "You help the support desk of a company that sells project software. Be brief and friendly. Name the help article you rely on. "
    "If the answer is not in the articles, say that you will ask a colleague, and do not guess amounts or dates.")
QUESTION = (
    "Hello, our invoice for this month lists the seat of one colleague twice, with different service dates. We moved to the yearly "
    "plan in the middle of the month and also invited her again because the first invitation went to an old address. Our bookkeeping "
    "closes on Friday and cannot pass an invoice with a double line. Which of the two lines is the right one, what do we have to "
    "change so that it does not happen again next month, and what do you need from us to refund the other? Please answer so that I "
    "can forward it to our bookkeeper, who does not know the software. Thank you very much for your help, and have a nice week.")
IMAGE_BYTES = 750_000


def request_body(scenario, model):
    """The JSON a client sends: about 1 KB, or 1 MB with an image."""
    content = QUESTION
    if scenario.image:
        pixels = base64.b64encode(random.Random(20).randbytes(IMAGE_BYTES)).decode()
        content = [{"type": "text", "text": QUESTION},
                   {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{pixels}"}}]
    body = {"model": model, "temperature": 0.3, "max_tokens": 400,
            "messages": [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": content}]}
    if scenario.streams:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return json.dumps(body)
