"""From a model's outputs to the result for a text, where the whole text has labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np


def softmax(values: np.ndarray) -> np.ndarray:
    """Scores along the last axis that add up to 1."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def sigmoid(values: np.ndarray) -> np.ndarray:
    """A score for each value by itself."""
    return 0.5 * (1.0 + np.tanh(0.5 * values))


def rounded(score: float) -> float:
    """A score as callers get it. What lies beyond depends on the other texts of a batch."""
    return round(float(score), 6)


ACTIVATIONS = {"softmax": softmax, "sigmoid": sigmoid}


@dataclass(frozen=True)
class TextScores:
    """The labels of a model, which of them are positive, and how its outputs become scores."""

    labels: list[str]
    positive: list[int]
    activation: str

    def result(self, outputs: list[np.ndarray], threshold: float) -> dict[str, Any]:
        """The result for a text from one output for each of its windows: that of the window where a positive label scores highest.

        A text without tokens scores 0 everywhere.
        """
        scores = np.zeros((1, len(self.labels)))
        if outputs:
            scores = ACTIVATIONS[self.activation](np.stack(outputs).astype(np.float64))
        window = int(scores[:, self.positive].max(axis=1).argmax())
        best = self.positive[int(scores[window, self.positive].argmax())]
        labels = {label: rounded(score) for label, score in zip(self.labels, scores[window], strict=True)}
        score = labels[self.labels[best]]
        return {"score": score, "label": self.labels[best], "labels": labels, "matched": score >= threshold}
