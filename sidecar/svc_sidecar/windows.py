"""Cuts texts into overlapping windows of tokens that a model can read at once."""

from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from .errors import LoadError


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads at once. `offsets` are code points of the whole text; None of them is real where `special` is 1."""

    ids: list[int]
    types: list[int]
    offsets: list[tuple[int, int]]
    special: list[int]
    words: list[int | None]

    def __len__(self) -> int:
        return len(self.ids)


class Windows:
    """A tokenizer that answers with windows of at most `most` tokens, of which neighbours share `stride`."""

    def __init__(self, tokenizer: Tokenizer, most: int, stride: int | None):
        room = most - tokenizer.num_special_tokens_to_add(False)
        stride = most // 8 if stride is None else stride
        if not 0 <= stride < room:
            raise LoadError(f"stride {stride} does not fit: a window of {most} tokens has room for {max(room, 0)}")
        tokenizer.no_padding()
        tokenizer.enable_truncation(most, stride=stride)
        self.most = most
        self._tokenizer = tokenizer

    def cut(self, text: str) -> list[Window]:
        """The windows of a text in order. A text without tokens has none."""
        encoding = self._tokenizer.encode(text)
        return [_window(part) for part in (encoding, *encoding.overflowing) if len(part.ids)]


def _window(part: Encoding) -> Window:
    return Window(part.ids, part.type_ids, part.offsets, part.special_tokens_mask, part.word_ids)
