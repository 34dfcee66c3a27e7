"""From a model's outputs for tokens to the entities of a text."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .scores import rounded, softmax
from .windows import Window

OUTSIDE = "O"
# B begins an entity, I and E go on with it, E ends it, S is one by itself. Some data sets write L for E and U for S.
BEGINS, GOES_ON, ENDS = frozenset("BSU"), frozenset("IEL"), frozenset("ESLU")


@dataclass(slots=True)
class Token:
    """A token that lies in an entity: the index of its tag, its score, where it is in the text, its word, its place in the row."""

    tag: int
    score: float
    start: int
    end: int
    word: int | None
    place: int


@dataclass(frozen=True)
class Tag:
    """`B-PERSON` in two parts. `prefix` is empty where the model has plain labels."""

    prefix: str
    label: str


def parse_tag(name: str) -> Tag:
    if len(name) > 2 and name[1] == "-" and name[0] in BEGINS | GOES_ON | ENDS:
        return Tag(name[0], name[2:])
    return Tag("", name)


class Entities:
    """Finds entities with the tags of one model.

    `positive` names the labels to report; None is all of them. `first` gives all tokens of a word the tag of its first one.
    """

    def __init__(self, names: list[str], positive: tuple[str, ...] | None, first: bool):
        self._tags = [parse_tag(name) for name in names]
        self._kept = np.array([tag.label != OUTSIDE and (positive is None or tag.label in positive) for tag in self._tags])
        self._first = first

    def result(self, text: str, windows: list[Window], outputs: list[np.ndarray], threshold: float) -> dict[str, Any]:
        """The result for a text: its entities that score at least `threshold`, and the highest score of them, or 0."""
        tokens = self._tokens(windows, outputs)
        entities = [entity for entity in self._entities(text, tokens) if entity["score"] >= threshold]
        score = max((entity["score"] for entity in entities), default=0.0)
        return {"score": score, "entities": entities, "matched": bool(entities)}

    def _tokens(self, windows: list[Window], outputs: list[np.ndarray]) -> Iterable[Token]:
        place = 0
        for window, (low, high), output in zip(windows, bounds(windows), outputs, strict=True):
            scores = softmax(output.astype(np.float64))
            tags = scores.argmax(axis=-1)
            if not self._kept[tags].any():
                place += 1
                continue
            word, head = None, 0
            for index, (start, end) in enumerate(window.offsets):
                if window.special[index]:
                    continue
                if window.words[index] is None or window.words[index] != word:
                    word, head = window.words[index], index
                if not low <= start < high:
                    continue
                place += 1
                source = head if self._first else index
                tag = int(tags[source])
                if self._kept[tag]:
                    yield Token(tag, float(scores[source, tag]), start, end, window.words[index], place)

    def _entities(self, text: str, tokens: Iterable[Token]) -> Iterable[dict[str, Any]]:
        run: list[Token] = []
        for token in tokens:
            if run and self._covered(run[-1], token):
                continue
            if run and not self._joins(run[-1], token):
                yield from self._entity(text, run)
                run = []
            run.append(token)
        if run:
            yield from self._entity(text, run)

    def _covered(self, last: Token, token: Token) -> bool:
        """Whether a token of another label is left out, since the one before has its characters. Else it gets what is left."""
        if self._tags[token.tag].label == self._tags[last.tag].label:
            return False
        token.start = max(token.start, last.end)
        return token.start >= token.end

    def _joins(self, last: Token, token: Token) -> bool:
        before, tag = self._tags[last.tag], self._tags[token.tag]
        if tag.label != before.label:
            return False
        # One character may have several tokens.
        if token.start < last.end:
            return True
        if token.place != last.place + 1:
            return False
        # A word with one tag for all of its tokens says a beginning more than once.
        if self._first and token.word is not None and token.word == last.word:
            return True
        return tag.prefix not in BEGINS and before.prefix not in ENDS

    def _entity(self, text: str, run: list[Token]) -> Iterable[dict[str, Any]]:
        start, end = run[0].start, run[-1].end
        inside = text[start:end]
        start, end = start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())
        if start < end:
            score = rounded(sum(token.score for token in run) / len(run))
            yield {"label": self._tags[run[0].tag].label, "start": start, "end": end, "score": score}


def bounds(windows: list[Window]) -> list[tuple[float, float]]:
    """The part of the text in which each window decides, from the first to before the second.

    What two windows share is divided in its middle, so that every token is read where it has most of its surroundings.
    """
    cuts = [-np.inf]
    for before, after in pairwise(windows):
        begin = next((start for (start, _), special in zip(after.offsets, after.special, strict=True) if not special), np.inf)
        shared = [start for (start, _), special in zip(before.offsets, before.special, strict=True) if not special and start >= begin]
        cuts.append(shared[len(shared) // 2] if shared else begin)
    cuts.append(np.inf)
    return list(pairwise(cuts))
