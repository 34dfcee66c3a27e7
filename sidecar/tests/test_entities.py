"""Results for tokens, over HTTP."""

import pytest

PERSON, EMAIL = 0.945874, 0.999858


def found(text, result):
    return [(entity["label"], text[entity["start"] : entity["end"]]) for entity in result["entities"]]


def test_entities_have_labels_places_and_scores(tiny):
    [result] = tiny.results("pii", "I am Ada Lovelace, jo.doe@example.co.uk.")
    person = {"label": "PERSON", "start": 5, "end": 17, "score": PERSON}
    email = {"label": "EMAIL", "start": 19, "end": 39, "score": EMAIL}
    assert result == {"score": EMAIL, "entities": [person, email], "matched": True}


def test_places_count_code_points(tiny):
    text = "👩🏽‍🚀 Zoë 𝔤 Ada\u0301? é Alan Turing 🎉jo@example.org🎉"
    [result] = tiny.results("pii", text)
    assert found(text, result) == [("PERSON", "Zoë"), ("PERSON", "Alan Turing"), ("EMAIL", "jo@example.org")]


def test_neighbours_are_entities_of_their_own(tiny):
    text = "Ada Grace Hopper"
    assert found(text, tiny.results("pii", text)[0]) == [("PERSON", "Ada"), ("PERSON", "Grace Hopper")]


def test_a_text_without_entities_scores_nothing(tiny):
    assert tiny.results("pii", "me @ noon", "") == [{"score": 0.0, "entities": [], "matched": False}] * 2


@pytest.mark.parametrize("before", range(0, 70, 3))
def test_an_entity_is_found_once_wherever_windows_are_cut(tiny, before):
    text = "🙂 " * before + "Ada Lovelace ada@example.org" + " end" * 50
    assert found(text, tiny.results("pii", text)[0]) == [("PERSON", "Ada Lovelace"), ("EMAIL", "ada@example.org")]


def test_entities_below_the_threshold_are_left_out(tiny):
    text = "Ada, ada@example.org"
    [result] = tiny.results("pii", text, threshold=0.95)
    assert found(text, result) == [("EMAIL", "ada@example.org")]
    assert tiny.results("pii", text, threshold=1)[0] == {"score": 0.0, "entities": [], "matched": False}


def test_only_positive_labels_are_reported(start):
    sidecar = start("models: [{name: m, kind: token_classification, path: pii, positive_labels: [PERSON]}]").ready()
    text = "Ada Lovelace, ada@example.org"
    assert found(text, sidecar.results("m", text)[0]) == [("PERSON", "Ada Lovelace")]
