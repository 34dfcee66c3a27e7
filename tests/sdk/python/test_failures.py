"""What goes wrong at a provider is the same exception in every SDK, whichever kind of provider it was."""

import pytest

import kinds
import settings
import speakers
from speakers.base import Options

CELLS = kinds.cells(speakers.ALL, kinds.FALLIBLE)
each_cell = pytest.mark.parametrize(("speaker", "kind"), CELLS, ids=[f"{speaker}-{kind}" for speaker, kind in CELLS])


@pytest.fixture(scope="module", autouse=True)
def connected():
    for speaker in speakers.ALL:
        speaker.connect()


@each_cell
@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_failures_keep_their_class(speaker, kind, status, stream):
    history = speaker.start()
    speaker.say(history, f"demo:error={status}")
    with pytest.raises(speaker.errors[status]) as caught:
        speaker.ask(kind, history, Options(stream=stream), model=kind.failing)
    seen, _ = speaker.caught(caught.value)
    # The messages shape has a status of its own for overload.
    assert seen in ((503, 529) if status == 503 else (status,))


@each_cell
@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_pages_of_a_proxy_keep_their_class(speaker, kind, status):
    history = speaker.start()
    speaker.say(history, f"demo:status={status}")
    with pytest.raises(speaker.errors[status]) as caught:
        speaker.ask(kind, history, model=kind.failing)
    assert speaker.caught(caught.value)[0] == status


@each_cell
@pytest.mark.parametrize("marker", ["inband-error", "cut", "end-after", "garbage"])
def test_a_stream_that_breaks_does_not_end_well(speaker, kind, marker):
    if marker != "inband-error" and not settings.THROUGH_GATEWAY:
        return
    # What cannot be read passes between providers of one shape, and then it is the SDK that cannot read it.
    with pytest.raises(Exception if marker == "garbage" else speaker.stream_error):
        for _ in speaker.begin(kind, f"one two three four five six seven demo:{marker}=6"):
            pass
