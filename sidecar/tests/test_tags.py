"""How tags of tokens become entities."""

import numpy as np
import pytest
from svc_sidecar.entities import Entities, bounds, parse_tag
from svc_sidecar.windows import Window

LABELS = ["O", "B-PER", "I-PER", "E-PER", "S-PER", "B-ORG", "I-ORG", "DATE"]
TEXT = "aa bb cc dd ee"


def window(spans, words=None):
    count = len(spans)
    return Window([9] * count, [0] * count, spans, [0] * count, words or list(range(count)))


def outputs(tags):
    return np.array([[5.0 if label == tag else 0.0 for label in LABELS] for tag in tags], dtype=np.float32)


def entities(tags, spans=None, words=None, text=TEXT, first=False, positive=None):
    spans = spans or [(3 * index, 3 * index + 2) for index in range(len(tags))]
    result = Entities(LABELS, positive, first).result(text, [window(spans, words)], [outputs(tags)], 0.5)
    return [(entity["label"], text[entity["start"] : entity["end"]]) for entity in result["entities"]]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-PER I-PER O O O", [("PER", "aa bb")]),
        ("I-PER I-PER O I-PER O", [("PER", "aa bb"), ("PER", "dd")]),
        ("B-PER B-PER I-PER O O", [("PER", "aa"), ("PER", "bb cc")]),
        ("B-PER I-ORG I-ORG O O", [("PER", "aa"), ("ORG", "bb cc")]),
        ("B-PER I-PER E-PER I-PER O", [("PER", "aa bb cc"), ("PER", "dd")]),
        ("S-PER S-PER I-PER O E-PER", [("PER", "aa"), ("PER", "bb"), ("PER", "cc"), ("PER", "ee")]),
        ("DATE DATE O DATE B-PER", [("DATE", "aa bb"), ("DATE", "dd"), ("PER", "ee")]),
        ("O O O O O", []),
    ],
)
def test_tags_are_merged(tags, expected):
    assert entities(tags.split()) == expected


def test_prefixes_are_told_from_plain_labels():
    tags = [parse_tag(name) for name in ("B-PER", "U-PER", "L-PER", "O", "E-", "X-RAY", "BANK", "I-E-MAIL")]
    assert [tag.prefix for tag in tags] == ["B", "U", "L", "", "", "", "", "I"]
    assert [tag.label for tag in tags] == ["PER", "PER", "PER", "O", "E-", "X-RAY", "BANK", "E-MAIL"]


def test_the_first_token_of_a_word_may_decide():
    spans, words = [(0, 2), (3, 4), (4, 5), (6, 8)], [0, 1, 1, 2]
    tags = ["O", "B-PER", "O", "O"]
    assert entities(tags, spans, words) == [("PER", "b")]
    assert entities(tags, spans, words, first=True) == [("PER", "bb")]
    assert entities(["O", "O", "B-PER", "O"], spans, words, first=True) == []


def test_words_that_touch_stay_apart():
    spans = [(0, 1), (1, 2)]
    assert entities(["B-PER", "B-PER"], spans, [0, 1], text="李王", first=True) == [("PER", "李"), ("PER", "王")]


def test_tokens_of_one_character_are_one_entity():
    assert entities(["B-PER", "B-PER", "I-PER"], [(0, 1), (0, 1), (1, 2)], [0, 0, 0], text="🙂b") == [("PER", "🙂b")]


def test_entities_do_not_overlap():
    spans = [(0, 1), (0, 1), (0, 1), (1, 2)]
    assert entities(["B-PER", "B-ORG", "B-PER", "I-PER"], spans, text="🙂b") == [("PER", "🙂b")]
    assert entities(["B-PER", "B-ORG", "O", "O"], [(0, 2), (0, 2), (2, 3), (3, 4)], text="aabb") == [("PER", "aa")]
    assert entities(["B-PER", "B-ORG"], [(0, 2), (1, 4)], text="aabb") == [("PER", "aa"), ("ORG", "bb")]
    assert entities(["B-PER", "I-PER"], [(0, 1), (0, 4)], text="aabb") == [("PER", "aabb")], "as a mark of a space and its word"


def test_space_around_an_entity_is_no_part_of_it():
    assert entities(["O", "B-PER", "I-PER"], [(0, 2), (2, 5), (5, 9)], text="aa bb cc  dd") == [("PER", "bb cc")]
    assert entities(["B-PER"], [(0, 3)], text="   ") == []


def test_a_score_is_the_mean_of_its_tokens():
    scores = np.log([[0.1, 0.9], [0.3, 0.7]])
    result = Entities(["O", "I-PER"], None, False).result("aa bb", [window([(0, 2), (3, 5)])], [scores], 0.5)
    assert result["entities"] == [{"label": "PER", "start": 0, "end": 5, "score": 0.8}]


def test_each_window_decides_about_its_half_of_what_it_shares():
    spans = [(3 * index, 3 * index + 2) for index in range(5)]
    windows = [window(spans[:4]), window(spans[2:])]
    first, second = ["O", "O", "B-PER", "B-PER"], ["B-ORG", "B-ORG", "O"]
    result = Entities(LABELS, None, False).result(TEXT, windows, [outputs(first), outputs(second)], 0.5)
    assert [(entity["label"], entity["start"]) for entity in result["entities"]] == [("PER", 6), ("ORG", 9)]


def test_what_windows_share_is_divided_in_its_middle():
    spans = [(3 * index, 3 * index + 2) for index in range(10)]
    assert bounds([window(spans[:6]), window(spans[2:])]) == [(-np.inf, 12), (12, np.inf)]
    assert bounds([window(spans[:5]), window(spans[5:])]) == [(-np.inf, 15), (15, np.inf)]
