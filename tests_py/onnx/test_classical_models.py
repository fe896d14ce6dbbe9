"""Models of scikit-learn, converted to ONNX, predict here what they predict there.

Their operators, those of the domain ``ai.onnx.ml``, are compared with ONNX Runtime's, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVR, OneClassSVM
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import webtensor as wt
from tests_py.onnx.single_nodes import Case, compare, compare_models, model_of
from webtensor.convert import convert_model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from skl2onnx import to_onnx

ROWS, FEATURES = 60, 5
DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(ROWS, FEATURES)).astype(np.float32)
THREE = (X[:, 0] + X[:, 1] > 0).astype(np.int64) + (X[:, 2] > 0.3)
TWO = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
NAMES = np.array(["cat", "dog", "eel"])[THREE]
NUMBERS = X[:, 0] * 2 + np.sin(X[:, 1])
PAIRS = np.stack([NUMBERS, X[:, 2]], 1)
HOLES = np.where(DRAW.random(X.shape) < 0.2, np.nan, X).astype(np.float32)

MODELS: dict[str, tuple[Any, Any, Any]] = {
    "linear": (LinearRegression(), X, NUMBERS),
    "linear of two": (Ridge(), X, PAIRS),
    "logistic": (LogisticRegression(), X, THREE),
    "logistic of two": (LogisticRegression(), X, TWO),
    "logistic of names": (LogisticRegression(), X, NAMES),
    "ridge classes": (RidgeClassifier(), X, TWO),
    "perceptron": (Perceptron(), X, THREE),
    "descent": (SGDClassifier(random_state=0, loss="log_loss"), X, TWO),
    "tree": (DecisionTreeClassifier(random_state=0), X, THREE),
    "tree of two": (DecisionTreeClassifier(random_state=0), X, TWO),
    "tree of numbers": (DecisionTreeRegressor(random_state=0), X, NUMBERS),
    "tree of pairs": (DecisionTreeRegressor(random_state=0), X, PAIRS),
    "forest": (RandomForestClassifier(8, random_state=0), X, THREE),
    "forest of two": (RandomForestClassifier(8, random_state=0), X, TWO),
    "forest of names": (RandomForestClassifier(8, random_state=0), X, NAMES),
    "forest of numbers": (RandomForestRegressor(8, random_state=0), X, NUMBERS),
    "extra trees": (ExtraTreesRegressor(8, random_state=0), X, NUMBERS),
    "boosting": (GradientBoostingClassifier(n_estimators=8, random_state=0), X, THREE),
    "boosting of two": (GradientBoostingClassifier(n_estimators=8, random_state=0), X, TWO),
    "boosting of numbers": (GradientBoostingRegressor(n_estimators=8, random_state=0), X, NUMBERS),
    "isolation": (IsolationForest(n_estimators=8, random_state=0), X, None),
    "votes": (
        VotingClassifier(
            [("a", LogisticRegression()), ("b", GaussianNB())],
            voting="soft",
            flatten_transform=False,
        ),
        X,
        THREE,
    ),
    "bayes": (GaussianNB(), X, THREE),
    "neighbours": (KNeighborsClassifier(3), X, THREE),
    "neighbours of numbers": (KNeighborsRegressor(3), X, NUMBERS),
    "network": (MLPClassifier([8], random_state=0, max_iter=50), X, THREE),
    "network of numbers": (
        MLPRegressor(hidden_layer_sizes=[8], random_state=0, max_iter=50),
        X,
        NUMBERS,
    ),
    "vectors of numbers": (SVR(), X, NUMBERS),
    "vectors of a polynomial": (SVR(kernel="poly", coef0=0.5), X, NUMBERS),
    "vectors of a sigmoid": (SVR(kernel="sigmoid", gamma=0.1), X, NUMBERS),
    "vectors of a line": (NuSVR(kernel="linear"), X, NUMBERS),
    "vectors of one class": (OneClassSVM(), X, None),
    "vectors": (SVC(), X, THREE),
    "vectors of two": (SVC(kernel="linear"), X, TWO),
    "vectors and probabilities": (SVC(probability=True, random_state=0), X, THREE),
    "vectors and probabilities of two": (SVC(probability=True, random_state=0), X, TWO),
    "linear vectors": (LinearSVC(random_state=0), X, THREE),
    **{
        f"{type(step).__name__} {number}": (make_pipeline(step, LogisticRegression()), X, TWO)
        for number, step in enumerate(
            (
                StandardScaler(),
                MinMaxScaler(),
                RobustScaler(),
                Normalizer(),
                Normalizer("l1"),
                Binarizer(threshold=0.2),
                PolynomialFeatures(2),
                SelectKBest(k=3),
                KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf"),
            )
        )
    },
    "imputer": (make_pipeline(SimpleImputer(), LinearRegression()), HOLES, NUMBERS),
    "columns": (
        make_pipeline(
            ColumnTransformer([("a", StandardScaler(), [0, 2]), ("b", MinMaxScaler(), [1, 4])]),
            LinearRegression(),
        ),
        X,
        NUMBERS,
    ),
}
#: Models whose conversion warns of what scikit-learn no longer recommends.
pytestmark = pytest.mark.filterwarnings("ignore")


def converted(model: Any, x: NDArray[Any], y: Any) -> bytes:
    model.fit(x, y)
    opsets = {"": 18, "ai.onnx.ml": 3}
    try:
        result = to_onnx(model, x[:1], options={id(model): {"zipmap": False}}, target_opset=opsets)
    except NameError:  # the model has no probabilities
        result = to_onnx(model, x[:1], target_opset=opsets)
    return bytes(result.SerializeToString())


@pytest.mark.parametrize("name", MODELS)
def test_models_predict_what_scikit_learn_does(backends: Iterator[str], name: str) -> None:
    model, x, y = MODELS[name]
    content = converted(model, x, y)
    expected = model.predict(x)
    for backend in backends:
        predicted, *_ = compare_models(content, {"X": x}, 2e-5)
        if expected.dtype.kind == "f":
            results = np.squeeze(predicted.numpy())
            np.testing.assert_allclose(results, expected, rtol=1e-4, atol=1e-4, err_msg=backend)
        else:
            assert np.ravel(predicted.tolist()).tolist() == expected.tolist(), backend


# -- operators by themselves -------------------------------------------------------------------

ML = "ai.onnx.ml"
TEXTS = np.array(["a", "c", "x"], object)


def node(op: str, x: Any, outputs: str = "y", opset: int = 3, **attributes: Any) -> Case:
    inputs = {"x": x} if isinstance(x, np.ndarray) else x
    return Case(op, inputs, attributes, outputs, domain=ML, domain_opset=opset)


def tree(**changes: Any) -> dict[str, Any]:
    """Return the attributes of two trees, of two tests and of one."""
    return {
        "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
        "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", *["LEAF"] * 3, "BRANCH_LEQ", *["LEAF"] * 2],
        "nodes_values": [0.1, -0.2, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0],
        "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0],
        **changes,
    }


def leaves(kind: str, ids: list[int], weights: list[float]) -> dict[str, Any]:
    return {
        f"{kind}_treeids": [0, 0, 0, 1, 1],
        f"{kind}_nodeids": [2, 3, 4, 1, 2],
        f"{kind}_ids": ids,
        f"{kind}_weights": weights,
    }


def stored(values: list[float], dtype: Any = np.float32) -> Any:
    return numpy_helper.from_array(np.array(values, dtype), "values")


TARGETS = leaves("target", [0, 0, 1, 0, 1], [0.5, -0.25, 1.0, 0.75, -2.0])
MODES = ["BRANCH_LT", "BRANCH_GTE", *["LEAF"] * 3, "BRANCH_GT", *["LEAF"] * 2]
#: A test whether a feature is one of two numbers, then whether another is at most 0.2.
ENSEMBLE = {
    "tree_roots": [0],
    "nodes_modes": stored([6, 0], np.uint8),
    "nodes_featureids": [0, 1],
    "nodes_splits": stored([0, 0.2]),
    "nodes_hitrates": stored([1, 2]),
    "nodes_truenodeids": [0, 1],
    "nodes_trueleafs": [1, 1],
    "nodes_falsenodeids": [1, 2],
    "nodes_falseleafs": [0, 1],
    "membership_values": stored([1, 3, np.nan]),
    "leaf_targetids": [0, 1, 0],
    "leaf_weights": stored([5, 6, 7]),
    "n_targets": 2,
}
WHOLE = np.array([[1, 0.1, 0], [2, 0.1, 0], [2, 0.3, 0], [3, 0.5, 0]], np.float32)
SHORT = X[:7]

CASES = {
    **{
        f"LinearClassifier {name} {count}": node(
            "LinearClassifier",
            SHORT,
            "yy",
            coefficients=DRAW.normal(size=FEATURES * count).tolist(),
            intercepts=DRAW.normal(size=count).tolist(),
            classlabels_ints=[4, 7, 9][: max(count, 2)],
            post_transform=name,
        )
        for name in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
        for count in (1, 2, 3)
    },
    "LinearRegressor": node(
        "LinearRegressor",
        SHORT,
        coefficients=DRAW.normal(size=FEATURES * 2).tolist(),
        targets=2,
        post_transform="LOGISTIC",
    ),
    "LinearRegressor PROBIT": node(
        "LinearRegressor",
        SHORT,
        coefficients=[0.0] * FEATURES,
        intercepts=[0.3],
        post_transform="PROBIT",
    )._replace(tolerance=5e-3),
    **{
        f"TreeEnsembleRegressor {how}": node(
            "TreeEnsembleRegressor", SHORT, **tree(), **TARGETS, n_targets=2, aggregate_function=how
        )
        for how in ("SUM", "AVERAGE")
    },
    **{
        f"TreeEnsembleRegressor {how} of one target": node(
            "TreeEnsembleRegressor",
            SHORT,
            **tree(),
            **leaves("target", [0] * 5, [0.5, -0.25, 1.0, 0.75, -2.0]),
            n_targets=1,
            aggregate_function=how,
        )
        for how in ("MIN", "MAX")
    },
    "TreeEnsembleRegressor of leaves with two weights": node(
        "TreeEnsembleRegressor",
        SHORT,
        **tree(),
        target_treeids=[0, 0, 0, 0, 0, 1, 1, 1],
        target_nodeids=[2, 3, 3, 4, 4, 1, 1, 2],
        target_ids=[0] * 8,
        target_weights=[0.5, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0],
        n_targets=1,
    ),
    "TreeEnsembleRegressor whose paths meet": node(
        "TreeEnsembleRegressor",
        SHORT,
        nodes_treeids=[0] * 5,
        nodes_nodeids=[*range(5)],
        nodes_featureids=[0, 1, 2, 0, 0],
        nodes_modes=["BRANCH_LEQ"] * 3 + ["LEAF"] * 2,
        nodes_values=[0.1, 0.2, -0.3, 0.0, 0.0],
        nodes_truenodeids=[2, 3, 3, 0, 0],
        nodes_falsenodeids=[1, 2, 4, 0, 0],
        target_treeids=[0] * 2,
        target_nodeids=[3, 4],
        target_ids=[0] * 2,
        target_weights=[1.0, 2.0],
        n_targets=1,
    ),
    "TreeEnsembleRegressor with a base": node(
        "TreeEnsembleRegressor",
        SHORT,
        **tree(nodes_modes=MODES),
        # ONNX Runtime adds no base to outputs to which no leaf adds.
        **leaves("target", [0, 0, 0, 1, 1], [0.5, -0.25, 1.0, 0.75, -2.0]),
        n_targets=2,
        base_values=[1.0, -1.0],
        post_transform="SOFTMAX",
    ),
    "TreeEnsembleRegressor of holes": node(
        "TreeEnsembleRegressor",
        HOLES,
        **tree(nodes_missing_value_tracks_true=[1, 0, 0, 0, 0, 1, 0, 0]),
        **TARGETS,
        n_targets=2,
    ),
    "TreeEnsembleClassifier": node(
        "TreeEnsembleClassifier",
        SHORT,
        "yy",
        **tree(),
        **leaves("class", [0, 1, 2, 0, 1], [0.5, 0.25, 1.0, 0.75, 2.0]),
        classlabels_strings=["a", "b", "c"],
        base_values=[0.0, 0.5, -0.5],
    ),
    **{
        f"TreeEnsembleClassifier of two {kind} {name}": node(
            "TreeEnsembleClassifier",
            SHORT,
            "yy",
            **tree(),
            **leaves("class", [0] * 5, weights),
            classlabels_int64s=[3, 5],
            post_transform=name,
        )
        for name in ("NONE", "LOGISTIC")
        for kind, weights in (
            ("shares", [0.25, 0.125, 0.5, 0.375, 0.125]),
            ("scores", [0.5, -0.25, 1.0, 0.75, -2.0]),
        )
    },
    "TreeEnsemble": node("TreeEnsemble", WHOLE, opset=5, **ENSEMBLE),
    "SVMClassifier of four": node(
        "SVMClassifier",
        SHORT,
        "yy",
        classlabels_strings=["a", "b", "c", "d"],
        vectors_per_class=[2, 1, 2, 1],
        support_vectors=DRAW.normal(size=6 * FEATURES).tolist(),
        coefficients=DRAW.normal(size=18).tolist(),
        rho=DRAW.normal(size=6).tolist(),
        prob_a=DRAW.normal(size=6).tolist(),
        prob_b=DRAW.normal(size=6).tolist(),
        kernel_type="RBF",
        kernel_params=[0.3, 0.0, 3.0],
    ),
    "SVMClassifier without vectors": node(
        "SVMClassifier",
        SHORT,
        "yy",
        classlabels_ints=[1, 2, 3],
        coefficients=DRAW.normal(size=15).tolist(),
        rho=[0.5],
        kernel_params=[0.0, 0.0, 3.0],
    ),
    "SVMRegressor without vectors": node(
        "SVMRegressor",
        SHORT,
        coefficients=DRAW.normal(size=5).tolist(),
        rho=[0.5],
        kernel_params=[0.0, 0.0, 3.0],
    ),
    "Scaler": node("Scaler", SHORT, offset=[0.5] * 5, scale=[1.0, 2.0, 3.0, 4.0, 5.0]),
    "Scaler of integers": node("Scaler", np.arange(6).reshape(2, 3), offset=[1.0], scale=[2.0]),
    **{
        f"Normalizer {norm}{ending}": node("Normalizer", rows, norm=norm)
        for norm in ("MAX", "L1", "L2")
        for ending, rows in (("", SHORT), (" of zeros", np.minimum(SHORT, 0.0)))
    },
    "Imputer": node("Imputer", HOLES, imputed_value_floats=[9.0], replaced_value_float=np.nan),
    "Imputer of each": node(
        "Imputer",
        np.array([[1, 2], [0, 4]], np.float32),
        imputed_value_floats=[8.0, 9.0],
        replaced_value_float=0.0,
    ),
    "Imputer of integers": node(
        "Imputer", np.array([[1, 2], [3, 1]]), imputed_value_int64s=[8, 9], replaced_value_int64=1
    ),
    "Binarizer": node("Binarizer", SHORT, threshold=0.25),
    "ArrayFeatureExtractor": node("ArrayFeatureExtractor", {"x": SHORT, "y": np.array([[3, 0]])}),
    "FeatureVectorizer": node(
        "FeatureVectorizer", {"a": SHORT, "b": SHORT[:, :2]}, inputdimensions=[5, 2]
    ),
    "OneHotEncoder": node("OneHotEncoder", np.array([[1, 3], [7, 2]]), cats_int64s=[1, 2, 3]),
    "OneHotEncoder of names": node("OneHotEncoder", TEXTS, cats_strings=["a", "b", "c"]),
    "CategoryMapper of names": node(
        "CategoryMapper", TEXTS, cats_strings=["a", "b", "c"], cats_int64s=[5, 6, 7]
    ),
    "CategoryMapper of numbers": node(
        "CategoryMapper",
        np.array([5, 9, 7]),
        cats_strings=["a", "b", "c"],
        cats_int64s=[5, 6, 7],
        default_string="none",
    ),
    "LabelEncoder with equal keys": node(
        "LabelEncoder", np.array([1, 2]), keys_int64s=[1, 1, 2], values_int64s=[5, 6, 7]
    ),
    "LabelEncoder 1": node("LabelEncoder", TEXTS, opset=1, classes_strings=["a", "b", "c"]),
    **{
        f"LabelEncoder {keys} {values}": node(
            "LabelEncoder",
            {"strings": TEXTS, "int64s": np.array([1, 4, 3]), "floats": SHORT[0]}[keys],
            opset=4,
            **{
                f"keys_{keys}": {
                    "strings": ["a", "b", "c"],
                    "int64s": [1, 2, 3],
                    "floats": SHORT[0, :3].tolist(),
                }[keys],
                f"values_{values}": {
                    "strings": ["u", "v", "w"],
                    "int64s": [4, 5, 6],
                    "floats": [0.5, 1.5, 2.5],
                }[values],
            },
        )
        for keys, values in (
            *(("strings", "int64s"), ("strings", "floats"), ("int64s", "strings")),
            *(("int64s", "floats"), ("floats", "strings"), ("floats", "int64s")),
        )
    },
}


@pytest.mark.parametrize("name", CASES)
def test_operators_compute_what_onnx_runtime_does(backend: str, name: str) -> None:
    compare(CASES[name])


def test_ordinal_numbers_are_parts_of_graph_models(tmp_path: Path) -> None:
    x = np.random.default_rng(3).integers(2, 6, (60, 4))
    model = make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        DecisionTreeRegressor(random_state=0),
    )
    (tmp_path / "model.onnx").write_bytes(converted(model, x, x[:, 0] * x[:, 1] - x[:, 3]))
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    graph = wt.load_graph_model(tmp_path / "web")
    x[0, 0] = 9
    predicted: Any = graph.predict(wt.tensor(x, dtype="int32"))
    np.testing.assert_allclose(predicted.numpy()[:, 0], model.predict(x), rtol=1e-6)


def test_maps_from_labels_are_their_probabilities() -> None:
    model, x, y = MODELS["logistic"]
    model.fit(x, y)
    file = bytes(to_onnx(model, x[:1], target_opset=18).SerializeToString())
    _, shares = wt.load_onnx(file).predict(wt.tensor(x))
    np.testing.assert_allclose(shares.numpy(), model.predict_proba(x), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "case, reason",
    [
        (node("Normalizer", SHORT, norm="L3"), "L3"),
        (node("LinearRegressor", SHORT), "coefficients"),
        (
            node("LinearRegressor", SHORT, coefficients=[1.0] * 5, post_transform="X"),
            "post_transform",
        ),
        (node("TreeEnsembleRegressor", SHORT, **tree(nodes_modes=["X"] * 8), **TARGETS), "mode"),
        (node("TreeEnsembleRegressor", SHORT, **tree(), **TARGETS, n_targets=1), "output 1 of 1"),
        (
            node("TreeEnsembleRegressor", SHORT, **tree(), **TARGETS, n_targets=10**8),
            "too many",
        ),
        (
            node(
                "TreeEnsembleRegressor",
                SHORT,
                **tree(nodes_truenodeids=[2, 3, 0, 0, 0, 1, 0, 0]),
                **TARGETS,
                n_targets=2,
            ),
            "one root",
        ),
        (
            node(
                "TreeEnsembleRegressor",
                SHORT,
                **tree(nodes_falsenodeids=[2, 3, 0, 0, 0, 2, 0, 0]),
                **TARGETS,
                n_targets=2,
            ),
            "one root",
        ),
        (
            node(
                "TreeEnsembleRegressor",
                SHORT,
                **tree(nodes_falsenodeids=[1, 4, 0, 0, 0, 1, 0, 0]),
                **leaves("target", [0] * 5, [1.0] * 5),
            ),
            "one root",
        ),
        (
            node(
                "TreeEnsembleRegressor",
                SHORT,
                nodes_treeids=[0, 0, 0],
                nodes_nodeids=[0, 1, 2],
                nodes_featureids=[0, 0, 0],
                nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
                nodes_values=[0.0, 0.0, 0.0],
                nodes_truenodeids=[1, 1, 0],
                nodes_falsenodeids=[2, 2, 0],
                target_treeids=[0],
                target_nodeids=[2],
                target_ids=[0],
                target_weights=[1.0],
            ),
            "comes back",
        ),
        (
            node(
                "SVMClassifier",
                SHORT,
                classlabels_ints=[1, 2],
                vectors_per_class=[1],
                rho=[0.5],
                coefficients=[1.0],
            ),
            "groups",
        ),
        (node("SVMRegressor", SHORT, coefficients=[1.0], n_supports=1, kernel_type="X"), "'X'"),
        (node("DictVectorizer", SHORT), "DictVectorizer"),
    ],
)
def test_what_is_broken_is_refused(case: Case, reason: str) -> None:
    inputs = {name: wt.tensor(value) for name, value in case.inputs.items() if value is not None}
    with pytest.raises(wt.ModelFormatError, match=reason) as caught:
        wt.load_onnx(model_of(case)).predict(inputs)
    assert len(str(caught.value)) <= 500
