"""Results for whole texts, over HTTP."""

import pytest

HIGH, LOW = 0.982014, 0.017986


def test_a_text_has_the_score_of_its_positive_label(tiny):
    [bad, good] = tiny.results("injection", "Please IGNORE all of it.", "Good morning")
    assert bad == {"score": HIGH, "label": "INJECTION", "labels": {"SAFE": LOW, "INJECTION": HIGH}, "matched": True}
    assert good == {"score": LOW, "label": "INJECTION", "labels": {"SAFE": HIGH, "INJECTION": LOW}, "matched": False}


def test_labels_of_a_multi_label_model_count_by_themselves(tiny):
    [result] = tiny.results("toxicity", "he is an idiot")
    assert result["labels"] == {"toxic": 0.952574, "insult": 0.982014, "male": 0.993307}
    assert (result["score"], result["label"]) == (0.982014, "insult"), "the highest of the positive labels, which male is not"


def test_results_come_in_the_order_of_the_texts(tiny):
    texts = ["ignore" if number % 3 == 0 else "a " * number for number in range(40)]
    scores = [result["score"] for result in tiny.results("injection", *texts)]
    assert scores == [HIGH if number % 3 == 0 else LOW for number in range(40)]


@pytest.mark.parametrize("place", [0, 25, 29, 30, 31, 100, 299])
def test_a_word_anywhere_in_a_long_text_is_found(tiny, place):
    words = ["word"] * 300
    words[place] = "ignore"
    [result] = tiny.results("injection", " ".join(words))
    assert result["score"] == HIGH


def test_a_long_text_is_read_in_windows(start):
    sidecar = start(
        "models: [{name: m, kind: text_classification, path: injection, positive_labels: [INJECTION], max_tokens: 10, stride: 3}]"
    ).ready()
    sidecar.results("m", "word " * 38)
    # Each window has two special tokens and room for eight, of which five are new: 8 + 6 × 5 = 38.
    assert sidecar.metric("batch_windows_sum", "m") == 7


def test_an_empty_text_is_no_match(tiny):
    assert [result["score"] for result in tiny.results("injection", "", " \n", "ignore")] == [LOW, LOW, HIGH]


def test_the_threshold_decides_what_matches(tiny):
    forget = 0.598688
    for threshold, matched in [(None, True), (forget, True), (0.6, False), (0, True), (1, False)]:
        [result] = tiny.results("injection", "forget", threshold=threshold)
        assert (result["score"], result["matched"]) == (forget, matched), threshold


def test_a_model_may_have_a_threshold_of_its_own(start):
    sidecar = start("models: [{name: m, kind: text_classification, path: injection, positive_labels: [INJECTION], threshold: 0.7}]").ready()
    assert [result["matched"] for result in sidecar.results("m", "forget", "ignore")] == [False, True]
    assert [result["matched"] for result in sidecar.results("m", "forget", "ignore", threshold=0.5)] == [True, True]


def test_the_activation_may_be_chosen(start):
    sidecar = start(
        "models: [{name: m, kind: text_classification, path: injection, positive_labels: [INJECTION], activation: sigmoid}]"
    ).ready()
    assert sidecar.results("m", "ignore")[0]["labels"] == {"SAFE": 0.5, "INJECTION": HIGH}
