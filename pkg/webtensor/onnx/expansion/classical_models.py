"""Linear models and support vector machines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations

from webtensor.onnx.expansion.bodies import Body, Outputs, Write

__all__ = ["DOMAIN", "FUNCTIONS", "TRANSFORMS", "classified", "transformed"]

DOMAIN = "ai.onnx.ml"
#: What may become of scores; operators of trees also name it by its number.
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def transformed(body: Body, scores: str, name: str) -> str:
    """Return scores after ``post_transform``.

    Raises:
        ValueError: it is unknown.
    """
    _check_transform(name)
    return scores if name == "NONE" else body("Transformed", scores, domain=DOMAIN, name=name)


def _check_transform(name: str) -> None:
    if name not in TRANSFORMS:
        raise ValueError(f"post_transform is {name!r:.200}")


def classified(
    body: Body,
    scores: str,
    labels: Sequence[str | int],
    *,
    threshold: float = 0.0,
    is_probability: bool = True,
) -> list[str]:
    """Return the label of the highest score, and the transformed scores.

    Args:
        body: the function.
        scores: of shape (batch, classes), or (batch, 1) where a score tells two classes apart.
        labels: those of the classes.
        threshold: above which a single score is for the second class.
        is_probability: whether the score of the first class follows from a single one as its
            probability does; it is else the negative.

    Raises:
        ValueError: ``post_transform`` is unknown.
    """
    name = body.take("post_transform", "NONE")
    _check_transform(name)
    index, values = body.nodes(
        "Chosen",
        scores,
        outputs=2,
        domain=DOMAIN,
        classes=len(labels),
        is_probability=int(is_probability),
        name=name,
        threshold=threshold,
    )
    return [_labels(body, index, labels), values]


def _labels(body: Body, index: str, labels: Sequence[str | int]) -> str:
    numbers = [label for label in labels if isinstance(label, int)]
    if len(numbers) == len(labels):
        return body("Gather", body.integers(*numbers), index)
    return body("Named", index, domain=DOMAIN, labels=list(labels))


# -- linear models -----------------------------------------------------------------------------


def _affine(
    body: Body, coefficients: Sequence[float], outputs: int, shifts: Sequence[float]
) -> str:
    """Return products with the rows of a matrix, which are shifted."""
    matrix = body.floats(coefficients, outputs, -1)
    return body("Gemm", body.float_input(), matrix, body.floats(shifts or [0.0]), transB=1)


def _linear_regressor(body: Body) -> Outputs:
    coefficients, targets = body.take("coefficients"), body.take("targets", 1)
    scores = _affine(body, coefficients, targets, body.take("intercepts", []))
    return transformed(body, scores, body.take("post_transform", "NONE"))


def _linear_classifier(body: Body) -> Outputs:
    texts = body.take("classlabels_strings", [])
    labels = texts or body.take("classlabels_ints")
    body.take("multi_class", 0)
    coefficients, intercepts = body.take("coefficients"), body.take("intercepts", [])
    scores = _affine(body, coefficients, len(intercepts) or len(labels), intercepts)
    return classified(body, scores, labels)


# -- support vector machines -------------------------------------------------------------------


def _kernel(body: Body, vectors: Sequence[float], count: int) -> str:
    """Return what the kernel says of rows and support vectors, of shape (batch, vectors)."""
    name, parameters = body.take("kernel_type", "LINEAR"), body.take("kernel_params", [])
    gamma, shift, degree = parameters or (0.0, 0.0, 0.0)
    x, matrix = body.float_input(), body.floats(vectors, count, -1)
    if name == "RBF":
        distance = body.squared_distances(x, matrix)
        return body("Exp", body("Mul", distance, body.number(-gamma)))
    product = body("Gemm", x, matrix, transB=1)
    if name == "LINEAR":
        return product
    if name in ("POLY", "SIGMOID"):
        scaled = body("Add", body("Mul", product, body.number(gamma)), body.number(shift))
        if name == "SIGMOID":
            return body("Tanh", scaled)
        return body("Pow", scaled, body.number(degree))
    raise ValueError(f"kernel_type is {name!r:.200}")


def _support_vector_regressor(body: Body) -> Outputs:
    count, coefficients = body.take("n_supports", 0), body.take("coefficients")
    shifts, vectors = body.take("rho", []), body.take("support_vectors", [])
    is_inlier = body.take("one_class", 0)
    if count:
        row = body.floats(coefficients, 1, -1)
        scores = body("Gemm", _kernel(body, vectors, count), row, body.floats(shifts), transB=1)
    else:
        body.take("kernel_type", ""), body.take("kernel_params", [])
        scores = _affine(body, coefficients, 1, shifts)
    if is_inlier:
        is_inside = body("Greater", scores, body.number(0))
        scores = body("Where", is_inside, body.number(1), body.number(-1))
    return transformed(body, scores, body.take("post_transform", "NONE"))


def _support_vector_classifier(body: Body) -> Outputs:
    """Each pair of classes has a score, which is a vote for one of them."""
    texts = body.take("classlabels_strings", [])
    labels = texts or body.take("classlabels_ints")
    counts, shifts = body.take("vectors_per_class", []), body.take("rho")
    coefficients, vectors = body.take("coefficients"), body.take("support_vectors", [])
    slopes, offsets = body.take("prob_a", []), body.take("prob_b", [])
    if not counts:
        body.take("kernel_type", ""), body.take("kernel_params", [])
        shifts = shifts[:1] * len(labels)
        return classified(body, _affine(body, coefficients, len(labels), shifts), labels)
    if len(counts) != len(labels):
        raise ValueError(f"{len(labels)} labels have {len(counts)} groups of support vectors")
    pairs = list(combinations(range(len(labels)), 2))
    table = _of_pairs(coefficients, counts, pairs)
    kernel = _kernel(body, vectors, sum(counts))
    scores = body("Gemm", kernel, body.floats(table, len(pairs), -1), body.floats(shifts), transB=1)
    index = body("ArgMax", _votes(body, scores, pairs, len(labels)), axis=-1, keepdims=0)
    if slopes:
        shares = body("Add", body("Mul", scores, body.floats(slopes)), body.floats(offsets))
        values = body("ClassShares", body("Sigmoid", shares), domain=DOMAIN, classes=len(labels))
    elif len(pairs) == 1:
        values = body("Concat", body("Neg", scores), scores, axis=1)
    else:
        values = scores
    values = transformed(body, values, body.take("post_transform", "NONE"))
    return [_labels(body, index, labels), values]


def _of_pairs(
    coefficients: Sequence[float], counts: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> list[float]:
    """Return the coefficients of all support vectors for each pair of classes.

    Args:
        coefficients: for each class but one, those of all support vectors against another class.
        counts: the number of support vectors of each class.
        pairs: the pairs.
    """
    total = sum(counts)
    if len(coefficients) != total * (len(counts) - 1):
        raise ValueError(f"{total} support vectors have {len(coefficients)} coefficients")
    starts = [0, *accumulate(counts)]
    table: list[float] = []
    for first, second in pairs:
        row = [0.0] * total
        for group, other in ((first, second - 1), (second, first)):
            part = slice(starts[group], starts[group + 1])
            row[part] = coefficients[other * total : (other + 1) * total][part]
        table += row
    return table


def _votes(body: Body, scores: str, pairs: Sequence[tuple[int, int]], classes: int) -> str:
    """Return how many pairs are for each class."""
    is_first = body("Greater", scores, body.number(0))
    votes = [
        body(
            "MatMul",
            body("Cast", is_side, to=1),
            body.floats(
                [float(pair[side] == label) for pair in pairs for label in range(classes)],
                len(pairs),
                classes,
            ),
        )
        for side, is_side in enumerate((is_first, body("Not", is_first)))
    ]
    return body("Add", *votes)


FUNCTIONS: dict[str, Write] = {
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear_regressor,
    "SVMClassifier": _support_vector_classifier,
    "SVMRegressor": _support_vector_regressor,
}
