"""A model that takes its time, so that tests can look at what waits behind it."""

import numpy as np
from onnx import TensorProto, helper
from tiny_models import make_tokenizer, masked, save

SIZE = 1024
ROUNDS = 12


def make_slow(folder):
    """Like `injection`, but each run multiplies large matrices first, however many texts are in it."""
    tokenizer = make_tokenizer(["ignore"], lower=True)
    table = np.full((tokenizer.get_vocab_size(), 2), [0, -4], dtype=np.float32)
    table[0] = 50
    table[tokenizer.token_to_id("ignore")] = [0, 4]
    work = [
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMin", ["numbers"], ["least"], keepdims=0),
        helper.make_node("Mul", ["matrix", "least"], ["round0"]),
        *(helper.make_node("MatMul", [f"round{i}", "matrix"], [f"round{i + 1}"]) for i in range(ROUNDS)),
        helper.make_node("ReduceMax", [f"round{ROUNDS}"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
    ]
    nodes = [
        *work,
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        *masked("rows", "seen"),
        helper.make_node("ReduceMax", ["seen"], ["highest"], axes=[1], keepdims=0),
        helper.make_node("Add", ["highest", "nothing"], ["logits"]),
    ]
    constants = {
        "matrix": np.full((SIZE, SIZE), 1 / SIZE, dtype=np.float32),
        "zero": np.float32(0),
        "table": table,
        "one": np.float32(1),
        "far": np.float32(1000),
        "last": np.array([2]),
    }
    save(folder, nodes, constants, ["batch", 2], tokenizer, ["SAFE", "INJECTION"])
