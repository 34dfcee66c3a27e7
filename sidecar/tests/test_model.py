"""What a graph is given."""

import numpy as np
from onnx import TensorProto, helper
from svc_sidecar.config import TEXT, ModelConfig
from svc_sidecar.model import Model, share_threads
from tiny_models import make_tokenizer, save

PAD = 90


def test_shorter_windows_are_padded_as_the_model_was_trained(tmp_path):
    """The graph tells the sum of ids, the sum of the mask and the number of tokens of each window."""
    nodes = [
        *(helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT) for name in ("input_ids", "attention_mask")),
        helper.make_node("Mul", ["input_ids_f", "zero"], ["none"]),
        helper.make_node("Add", ["none", "one"], ["ones"]),
        *(
            helper.make_node("ReduceSum", [name, "last"], [f"{name}_sum"], keepdims=1)
            for name in ("input_ids_f", "attention_mask_f", "ones")
        ),
        helper.make_node("Concat", ["input_ids_f_sum", "attention_mask_f_sum", "ones_sum"], ["logits"], axis=1),
    ]
    share_threads(1)
    tokenizer = make_tokenizer(["Ada"], lower=False)
    constants = {"zero": np.float32(0), "one": np.float32(1), "last": np.array([1])}
    save(tmp_path, nodes, constants, ["batch", 3], tokenizer, ["ids", "mask", "tokens"])
    settings = tmp_path / "config.json"
    settings.write_text(settings.read_text().replace('"pad_token_id": 0', f'"pad_token_id": {PAD}'))
    model = Model(ModelConfig("m", TEXT, tmp_path, None, ("ids",), None, None, None, "simple", 0.5))

    cls, sep, ada = (tokenizer.token_to_id(word) for word in ("[CLS]", "[SEP]", "Ada"))
    [short], [long] = model.cut("Ada"), model.cut("Ada Ada Ada")
    assert [output.tolist() for output in model.run([short, long])] == [
        [cls + ada + sep + 2 * PAD, 3, 5],
        [cls + 3 * ada + sep, 5, 5],
    ]
