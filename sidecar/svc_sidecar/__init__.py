"""Text and token classifiers for guardrails, served over HTTP on ONNX Runtime."""
