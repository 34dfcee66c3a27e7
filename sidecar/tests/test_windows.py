"""Windows of the kinds of tokenizers that published models have."""

from itertools import pairwise

import pytest
from svc_sidecar.entities import bounds
from svc_sidecar.errors import LoadError
from svc_sidecar.windows import Windows
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXT = "The astronaut 👩🏽‍🚀 Zoë met Ada   Lovelace in Łódź; 東京 was next. " * 6
ENDS = [("[CLS]", 0), ("[SEP]", 1)]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer, trainers.BpeTrainer(vocab_size=300, special_tokens=["[CLS]", "[SEP]"], show_progress=False)


def sentence_pieces():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=["[CLS]", "[SEP]", "<unk>"], unk_token="<unk>", show_progress=False)
    return tokenizer, trainer


def word_pieces():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[CLS]", "[SEP]", "[UNK]"]
    return tokenizer, trainers.WordPieceTrainer(vocab_size=60, special_tokens=special, show_progress=False)


def trained(kind):
    tokenizer, trainer = kind()
    tokenizer.train_from_iterator([TEXT], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ENDS)
    return tokenizer


def real(window):
    return [span for span, special in zip(window.offsets, window.special, strict=True) if not special]


@pytest.mark.parametrize("kind", [byte_level, sentence_pieces, word_pieces])
@pytest.mark.parametrize(("most", "stride"), [(16, 4), (17, 0), (40, 37), (10_000, 50)])
def test_windows_cover_every_token_once(kind, most, stride):
    tokenizer = trained(kind)
    whole = tokenizer.encode(TEXT, add_special_tokens=False)
    windows = Windows(tokenizer, most, stride).cut(TEXT)
    assert all(len(window) <= most and window.ids[0] == 0 and window.ids[-1] == 1 for window in windows)
    for before, after in pairwise(windows):
        assert stride == 0 or real(before)[-stride:] == real(after)[:stride]
    decided = [span for window, (low, high) in zip(windows, bounds(windows), strict=True) for span in real(window) if low <= span[0] < high]
    if stride > 6:  # More than the tokens of one character, so that none is torn.
        assert decided == whole.offsets
    else:
        assert set(decided) == set(whole.offsets)


@pytest.mark.parametrize("kind", [byte_level, sentence_pieces, word_pieces])
def test_offsets_count_code_points(kind):
    [window] = Windows(trained(kind), 10_000, None).cut(TEXT)
    places = {place for start, end in real(window) for place in range(start, end)}
    assert places >= {place for place, sign in enumerate(TEXT) if sign.isalpha()}
    assert max(places) < len(TEXT)


def test_a_text_without_tokens_has_no_windows():
    tokenizer, trainer = byte_level()
    tokenizer.train_from_iterator([TEXT], trainer)
    assert Windows(tokenizer, 10, 2).cut("") == []


def test_settings_of_the_tokenizer_file_do_not_count():
    tokenizer = trained(byte_level)
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(4)
    [window] = Windows(tokenizer, 1000, None).cut("Ada")
    assert 2 < len(window) < 64


@pytest.mark.parametrize(("most", "stride"), [(2, 0), (1, None), (10, 8), (10, 9)])
def test_a_stride_has_to_leave_room(most, stride):
    with pytest.raises(LoadError, match="does not fit"):
        Windows(trained(byte_level), most, stride)
