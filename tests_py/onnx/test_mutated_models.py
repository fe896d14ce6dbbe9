"""Mutated models load, or are refused with an error that says why.

The suite loads a sample; ``make fuzz`` loads thousands.
"""

import os
from random import Random

import pytest

import webtensor as wt
from tests_py.mutations import mutated
from tests_py.onnx.backend_cases import node_cases

COUNT = 200 if os.environ.get("WEBTENSOR_FUZZ") else 6
#: Cases with constants, attributes of all kinds, subgraphs, functions and sequences.
NAMES = [
    "attention_4d_causal_expanded",
    "averagepool_2d_same_upper",
    "basic_conv_with_padding",
    "constant",
    "constantofshape_float_ones",
    "convtranspose_output_shape",
    "dropout_default_mask",
    "gru_defaults",
    "if",
    "if_seq",
    "layer_normalization_2d_axis0_expanded",
    "loop11",
    "lstm_with_peepholes",
    "nonmaxsuppression_two_batches",
    "qlinearmatmul_2D_uint8_float32",
    "range_float_type_positive_delta_expanded",
    "resize_upsample_sizes_cubic",
    "scan9_sum",
    "scatternd_add",
    "sequence_map_add_2_sequences_expanded",
    "slice",
    "split_variable_parts_1d_opset13",
    "tfidfvectorizer_tf_onlybigrams_skip5",
    "top_k",
]


def read(data: bytes) -> str:
    """Load a model, and return why it is refused, or ""."""
    try:
        wt.load_onnx(data)
    except wt.ModelFormatError as error:
        return str(error)
    return ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", NAMES)
def test_mutated_models(name: str) -> None:
    cases = {case.name.removeprefix("test_"): case for case in node_cases()}
    data = cases[name].model
    random = Random(name)
    assert read(data) == ""
    reasons = {read(mutated(data, random)) for _ in range(COUNT)}
    assert all(reason.startswith("model.onnx") for reason in reasons - {""})
