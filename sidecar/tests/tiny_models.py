"""tiny_models.py OUTDIR: makes small models in the Hugging Face layout, and a configuration that serves them.

`injection` tells texts with the word "ignore", `toxicity` those with "idiot", and `pii` finds names of a short list (PERSON)
and e-mail addresses (EMAIL). They are real graphs with real tokenizers and answer in microseconds.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PAD, UNKNOWN = 0, 1
FIRST_NAMES = ["Ada", "Grace", "Alan", "Zoë"]
LAST_NAMES = ["Lovelace", "Hopper", "Turing"]
# Parts of an address are tokens of their own; an @ elsewhere is none at all.
WORDS = r"[\w.+-]+(?=@[\w-]+\.\w)|@(?=[\w-]+\.\w)|(?<=@)[\w-]+(?:\.[\w-]+)+|\w+|[^\w\s@]"
CONFIG = """\
listen: 127.0.0.1:0
models:
  - name: injection
    kind: text_classification
    path: injection
    positive_labels: [INJECTION]
    max_tokens: 32
    stride: 8
  - name: toxicity
    kind: text_classification
    path: toxicity
    positive_labels: [toxic, insult]
    max_tokens: 32
    stride: 8
  - name: pii
    kind: token_classification
    path: pii
    max_tokens: 32
    stride: 8
"""


def make_all(folder: Path) -> Path:
    """Makes the three models in `folder`. Returns the path of the configuration for them."""
    make_classifier(
        folder / "injection",
        labels=["SAFE", "INJECTION"],
        words={"ignore": [0, 4], "forget": [0, 0.4]},
        otherwise=[0, -4],
    )
    make_classifier(
        folder / "toxicity",
        labels=["toxic", "insult", "male"],
        words={"idiot": [3, 4, -6], "stupid": [2, 1, -6], "he": [-6, -6, 5]},
        otherwise=[-6, -6, -6],
        problem_type="multi_label_classification",
    )
    make_tagger(folder / "pii")
    config = folder / "sidecar.yaml"
    config.write_text(CONFIG)
    return config


def make_classifier(folder: Path, labels, words, otherwise, problem_type=None) -> None:
    """A model of whole texts: each word brings its row of outputs, and the highest of each label counts.

    The row of padding is far above all others, so that a caller who gives no attention mask gets wrong answers.
    """
    tokenizer = make_tokenizer(list(words), lower=True)
    table = np.full((tokenizer.get_vocab_size(), len(labels)), otherwise, dtype=np.float32)
    table[PAD] = 50
    for word, row in words.items():
        table[tokenizer.token_to_id(word)] = row
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        *masked("rows", "seen"),
        helper.make_node("ReduceMax", ["seen"], ["logits"], axes=[1], keepdims=0),
    ]
    constants = {"table": table, "one": np.float32(1), "far": np.float32(1000), "last": np.array([2])}
    save(folder, nodes, constants, ["batch", len(labels)], tokenizer, labels, problem_type)


def masked(rows: str, result: str) -> list[onnx.NodeProto]:
    """`rows`, far below everything where the attention mask is 0."""
    return [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Sub", ["column", "one"], ["absent"]),
        helper.make_node("Mul", ["absent", "far"], ["below"]),
        helper.make_node("Add", [rows, "below"], [result]),
    ]


def make_tagger(folder: Path) -> None:
    """A model of tokens, which looks at each one and its neighbours."""
    labels = ["O", "B-PERSON", "I-PERSON", "B-EMAIL", "I-EMAIL"]
    tokenizer = make_tokenizer([*FIRST_NAMES, *LAST_NAMES, "@"], lower=False)
    features = np.zeros((tokenizer.get_vocab_size(), 3), dtype=np.float32)
    for feature, words in enumerate((FIRST_NAMES, LAST_NAMES, ["@"])):
        for word in words:
            features[tokenizer.token_to_id(word), feature] = 1
    # [label, feature, neighbour]: of the token before, the token itself and the token after.
    weights = np.zeros((len(labels), 3, 3), dtype=np.float32)
    weights[1, 0, 1] = weights[2, 1, 1] = 6
    weights[3, 2, 2] = weights[4, 2, 1] = weights[4, 2, 0] = 12
    nodes = [
        helper.make_node("Gather", ["features", "input_ids"], ["rows"]),
        helper.make_node("Transpose", ["rows"], ["channels"], perm=[0, 2, 1]),
        helper.make_node("Conv", ["channels", "weights", "bias"], ["scores"], kernel_shape=[3], pads=[1, 1]),
        helper.make_node("Transpose", ["scores"], ["logits"], perm=[0, 2, 1]),
    ]
    constants = {"features": features, "weights": weights, "bias": np.array([3, 0, 0, 0, 0], dtype=np.float32)}
    save(folder, nodes, constants, ["batch", "tokens", len(labels)], tokenizer, labels)


def make_tokenizer(words: list[str], lower: bool) -> Tokenizer:
    """One token for each word, all unknown but `words`, between [CLS] and [SEP]."""
    vocabulary = {word: index for index, word in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    if lower:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORDS), behavior="removed", invert=True)
    ends = [(word, vocabulary[word]) for word in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


def save(folder, nodes, constants, shape, tokenizer, labels, problem_type=None) -> None:
    """Writes graph, tokenizer and config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    # A graph may not declare an input that no node reads; tokens are tagged without a mask, since unknown ones are neutral.
    read = {name for node in nodes for name in node.input}
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
        if name in read
    ]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, folder.name, inputs, [logits], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {str(index): label for index, label in enumerate(labels)}
    settings = {"id2label": names, "label2id": {label: index for index, label in enumerate(labels)}, "pad_token_id": PAD}
    if problem_type:
        settings["problem_type"] = problem_type
    (folder / "config.json").write_text(json.dumps(settings, indent=2))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tiny_models.py OUTDIR")
    print(make_all(Path(sys.argv[1])))
