"""Mutated models load and predict, or are refused with an error that says why.

Bytes are changed, and values of the messages that they stand for. The suite tries a sample;
``make fuzz`` tries thousands.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from onnx import ModelProto

import webtensor as wt
from tests_py.mutations import mutated
from tests_py.onnx import test_classical_models, test_runtime_operators
from tests_py.onnx.backend_cases import fed, node_cases
from tests_py.onnx.single_nodes import feeds_of, model_of

COUNT = 500 if os.environ.get("WEBTENSOR_FUZZ") else 6
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
OF_OTHER_DOMAINS = {
    name: {**test_classical_models.CASES, **test_runtime_operators.CASES}[name]
    for name in (
        *("Attention with a mask", "GatherBlockQuantized", "GroupQueryAttention of a step"),
        *("MatMulNBits 4 64 16 True", "QLinearConcat", "SVMClassifier of four"),
        *("TreeEnsemble", "TreeEnsembleClassifier"),
    )
}
#: What takes the place of values.
STRANGE = {
    int: (-1, 0, 1, 2, 3, 7, 65_536, (1 << 31) - 1, 1 << 40, -(1 << 63)),
    float: (-1.0, 0.0, 1.5, 3e38, float("inf"), float("nan")),
    str: ("", "x", "y", "NOTSET", "body", "a" * 1000),
    bytes: (b"", b"\xff" * 8, b"SAME_UPPER", bytes(16)),
}


def mutated_message(data: bytes, random: Random) -> bytes:
    """A model with other values, or fewer or more of them."""
    model = ModelProto.FromString(data)
    fields: list[tuple[Any, FieldDescriptor]] = []
    messages: list[Any] = [model]
    while messages:
        message = messages.pop()
        for field, value in message.ListFields():
            fields.append((message, field))
            if field.message_type is not None:
                messages += value if field.is_repeated else [value]
    for _ in range(random.choice((1, 1, 2, 4))):
        _mutate(*random.choice(fields), random)
    return bytes(model.SerializeToString())


def _mutate(message: Any, field: FieldDescriptor, random: Random) -> None:
    value = getattr(message, field.name)
    is_message = field.message_type is not None
    if not field.is_repeated:
        if is_message:
            message.ClearField(field.name)
        else:
            with suppress(ValueError):  # an integer of 32 bits, or no text
                setattr(message, field.name, random.choice(STRANGE[type(value)]))
    elif value:
        index = random.randrange(len(value))
        if is_message or random.random() < 0.3:
            value.append(value[index])
            if random.random() < 0.5:
                del value[index], value[-1]
        else:
            with suppress(ValueError):
                value[index] = random.choice(STRANGE[type(value[index])])


def outcome(data: bytes, values: list[Any]) -> str:
    """Load a model and predict twice; return why the model is refused, or ""."""
    try:
        model: Any = wt.load_onnx(data)
    except wt.ModelFormatError as error:
        return str(error)
    feeds = dict(zip(model.input_names, map(fed, values), strict=False))
    for _ in range(2):
        try:
            model.predict(feeds)
        except (ValueError, wt.OutOfMemoryError):  # the inputs do not fit
            break
    return ""


def model_and_values(name: str) -> tuple[bytes, list[Any]]:
    """A model, and the values of its inputs."""
    if name in OF_OTHER_DOMAINS:
        single = OF_OTHER_DOMAINS[name]
        return model_of(single), [*feeds_of(single).values()]
    cases = {case.name.removeprefix("test_"): case for case in node_cases()}
    return cases[name].model, cases[name].data[0][0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mutate", [mutated, mutated_message])
@pytest.mark.parametrize("name", [*NAMES, *OF_OTHER_DOMAINS])
def test_mutated_models(name: str, mutate: Callable[[bytes, Random], bytes]) -> None:
    model, values = model_and_values(name)
    wt.set_backend("wasm")
    random = Random(name)
    assert outcome(model, values) == ""
    reasons = {outcome(mutate(model, random), values) for _ in range(COUNT)}
    assert all(reason.startswith("model.onnx") for reason in reasons - {""})
    assert max(map(len, reasons)) <= 500
