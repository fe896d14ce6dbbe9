"""Spoken words, by a network that knows at which frequency a spectrogram is loudest."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor import ModelFormatError, keras
from webtensor.audio import BACKGROUND_NOISE, UNKNOWN_WORD, RecognizedWord, SpeechCommands

FRAMES, COLUMNS = 6, 5
WORDS = [BACKGROUND_NOISE, UNKNOWN_WORD, "left", "right", "yes"]


def network() -> Any:
    """The softmax of the mean over all frames of each normalized column."""
    model = keras.Sequential(
        [
            keras.Input((FRAMES, COLUMNS, 1)),
            keras.layers.Flatten(name="flat"),
            keras.layers.Dense(COLUMNS, use_bias=False, name="means"),
            keras.layers.Dense(COLUMNS, activation="softmax", name="words"),
        ]
    )
    means = np.tile(np.eye(COLUMNS), (FRAMES, 1)) / FRAMES
    model.set_weights([means, 3 * np.eye(COLUMNS), np.zeros(COLUMNS)])
    return model


def speech(**options: Any) -> SpeechCommands:
    return SpeechCommands(network(), **{"words": WORDS, **options})


def frame_of(column: int, level: float = -40.0) -> list[float]:
    """A frame in which one column is loud."""
    return [level if index == column else -100.0 for index in range(COLUMNS)]


def spectrogram_of(*columns: int) -> np.ndarray:
    """A spectrogram of frames, in each of which a column is loud."""
    return np.array([frame_of(column) for column in columns], np.float32)[..., None]


def probabilities_of(levels: np.ndarray) -> np.ndarray:
    normalized = (levels - levels.mean()) / levels.std()
    powers = np.exp(3 * normalized.mean(axis=(0, 2)))
    return np.asarray(powers / powers.sum())


def test_words_have_probabilities(backend: str, no_leak: None) -> None:
    levels = spectrogram_of(2, 2, 2, 3, 3, 0)
    model = speech()
    heard = model.recognize(levels)
    assert (heard.word, heard.probability) == ("left", heard.probabilities["left"])
    assert [*heard.probabilities][:3] == ["left", "right", BACKGROUND_NOISE]
    np.testing.assert_allclose(
        [heard.probabilities[word] for word in WORDS],
        probabilities_of(levels),
        rtol=1e-4,
        atol=1e-6,
    )
    assert asyncio.run(model.recognize_async(levels)) == heard


def test_spectrograms_may_have_more_columns_and_no_channels() -> None:
    levels = spectrogram_of(4, 4, 4, 4, 4, 1)
    wider = np.concatenate([levels, np.zeros((FRAMES, 2, 1), np.float32)], axis=1)
    model = speech()
    assert model.recognize(wider) == model.recognize(levels) == model.recognize(levels[..., 0])
    assert model.recognize(wt.tensor(levels)).word == "yes"


def test_features_are_those_of_the_dense_layer_before_the_last(backend: str) -> None:
    levels = spectrogram_of(2, 2, 2, 2, 3, 0)
    normalized = (levels - levels.mean()) / levels.std()
    for model in (speech(), speech(features="means")):
        np.testing.assert_allclose(
            model.embed(levels).numpy(), normalized.mean(axis=(0, 2)), atol=1e-5
        )
    flat = asyncio.run(speech(features="flat").embed_async(levels))
    np.testing.assert_allclose(flat.numpy(), normalized.ravel(), atol=1e-5)


def test_graph_models_recognize_words(no_leak: None) -> None:
    def means(batch: wt.Tensor) -> wt.Tensor:
        return wt.softmax(wt.mean(wt.reshape(batch, (-1, FRAMES, COLUMNS)), 1) * 3.0)

    graph = computing_model((None, FRAMES, COLUMNS, 1), (-1, COLUMNS), means)
    model = SpeechCommands(graph, words=WORDS)
    levels = spectrogram_of(3, 3, 3, 0, 3, 3)
    heard = model.recognize(levels)
    assert heard.word == "right"
    np.testing.assert_allclose(
        [heard.probabilities[word] for word in WORDS], probabilities_of(levels), rtol=1e-4
    )
    assert asyncio.run(model.recognize_async(levels)) == heard
    model.dispose()


def test_a_layers_model_is_loaded_with_its_metadata(tmp_path: Path) -> None:
    keras.saving.save_layers_model(network(), tmp_path / "model")
    metadata = tmp_path / "metadata.json"
    metadata.write_text(json.dumps({"tfjsSpeechCommandsVersion": "0.5.4", "wordLabels": WORDS}))
    levels = spectrogram_of(2, 2, 2, 2, 3, 0)
    expected = speech().recognize(levels)
    loaded = SpeechCommands.load(tmp_path / "model", words=str(metadata))
    assert loaded.recognize(levels) == expected
    loaded = asyncio.run(SpeechCommands.load_async(str(tmp_path / "model"), words=str(metadata)))
    assert loaded.recognize(levels) == expected
    assert loaded.words == WORDS


# -- listening ---------------------------------------------------------------------------------


def pieces(frames: Iterable[list[float]], size: int) -> list[dict[str, wt.Tensor]]:
    """What a microphone records: elements of a few frames each."""
    rows = list(frames)
    return [
        {"spectrogram": wt.tensor(np.array(rows[start : start + size], np.float32)[..., None])}
        for start in range(0, len(rows), size)
    ]


async def recorded(elements: Iterable[dict[str, wt.Tensor]]) -> AsyncIterator[Mapping[str, Any]]:
    for element in elements:
        yield element


def words_heard(
    frames: Iterable[list[float]],
    size: int = 1,
    model: SpeechCommands | None = None,
    **options: Any,
) -> list[RecognizedWord]:
    async def listen() -> list[RecognizedWord]:
        microphone = recorded(pieces(frames, size))
        return [heard async for heard in (model or speech()).listen(microphone, **options)]

    return asyncio.run(listen())


RANDOM = np.random.default_rng(0)
#: The loudest column stays the same for some frames; how loud it is differs.
SPOKEN = [
    frame_of(int(column), RANDOM.uniform(-60, -20))
    for column in np.repeat(RANDOM.integers(0, COLUMNS, 25), 4)
]


def expected_words(period: int, threshold: float, suppression: int, everything: bool) -> list[str]:
    words, last = [], None
    for count in range(FRAMES, len(SPOKEN) + 1):
        rests = last is not None and count - last <= suppression
        if count % period or rests:
            continue
        levels = np.array(SPOKEN[count - FRAMES : count])[..., None]
        probabilities = probabilities_of(levels)
        word = WORDS[int(probabilities.argmax())]
        is_wanted = everything or word not in (BACKGROUND_NOISE, UNKNOWN_WORD)
        if probabilities.max() >= threshold and is_wanted:
            words.append(word)
            last = count
    return words


#: How long a frame lasts, in milliseconds.
FRAME_TIME = 1000 * 1024 / 44100


@pytest.mark.parametrize("size", [1, 4, 9])
@pytest.mark.parametrize(
    "overlap, threshold, suppressed, everything",
    [
        (0.5, 0.0, 0, False),
        (0.5, 0.0, 0, True),
        (0.0, 0.0, 0, True),
        (0.99, 0.0, 0, True),
        (0.99, 0.8, 0, True),
        (0.99, 0.5, 10, False),
        (0.7, 0.6, 25, True),
    ],
)
def test_the_model_looks_at_the_last_frames_time_and_again(
    size: int, overlap: float, threshold: float, suppressed: int, everything: bool
) -> None:
    heard = words_heard(
        SPOKEN,
        size,
        overlap_factor=overlap,
        probability_threshold=threshold,
        suppression_time_millis=suppressed * FRAME_TIME,
        include_noise_and_unknown=everything,
    )
    period = {0.5: 3, 0.0: 6, 0.99: 1, 0.7: 2}[overlap]
    expected = expected_words(period, threshold, suppressed, everything)
    assert len(expected) > 2
    assert [item.word for item in heard] == expected


def test_the_first_word_is_heard_before_the_recording_ends() -> None:
    delivered = 0

    async def microphone() -> AsyncIterator[Mapping[str, Any]]:
        nonlocal delivered
        for element in pieces([frame_of(2)] * 50, 1):
            delivered += 1
            yield element

    async def first() -> RecognizedWord:
        async for heard in speech().listen(microphone()):
            return heard
        raise AssertionError("nothing was heard")

    assert asyncio.run(first()).word == "left"
    assert delivered == FRAMES


def test_silent_frames_at_the_start_are_left_out() -> None:
    silence = [[float("-inf")] * COLUMNS] * 7
    heard = words_heard([*silence, *SPOKEN], include_noise_and_unknown=True)
    assert heard == words_heard(SPOKEN, include_noise_and_unknown=True)


def test_data_sets_are_microphones_too() -> None:
    rows = np.array(SPOKEN, np.float32).reshape(-1, 5, COLUMNS, 1)
    dataset = wt.data.Dataset.from_tensor_slices({"spectrogram": rows})

    async def listen() -> list[RecognizedWord]:
        return [heard async for heard in speech().listen(dataset)]

    assert asyncio.run(listen()) == words_heard(SPOKEN)


def test_listening_keeps_no_memory() -> None:
    model = speech()
    words_heard(SPOKEN[:20], model=model)
    before = wt.memory()["num_tensors"]
    words_heard(SPOKEN, model=model)
    assert wt.memory()["num_tensors"] == before


def test_words_of_ones_own_are_learned_and_heard(backend: str) -> None:
    keras.utils.set_random_seed(0)
    model = speech()
    classifier = model.create_transfer(["low", "high"], learning_rate=0.02)
    for column, word in ((0, "low"), (1, "low"), (3, "high"), (4, "high")):
        for other in range(COLUMNS):
            levels = spectrogram_of(column, column, column, column, column, other)
            classifier.add_example(levels, word)
    classifier.fit(epochs=40)
    assert classifier.predict(spectrogram_of(0, 0, 0, 0, 0, 0))["low"] > 0.8
    frames = [frame_of(1)] * FRAMES + [frame_of(4)] * FRAMES
    heard = words_heard(frames, model=model, classifier=classifier, overlap_factor=0.0)
    assert [item.word for item in heard] == ["low", "high"]
    assert heard[0].probability > 0.8


# -- errors ------------------------------------------------------------------------------------


def test_other_models_are_refused() -> None:
    unfit: Any = 3
    with pytest.raises(TypeError, match="SpeechCommands: model must be a GraphModel or a Model of"):
        SpeechCommands(unfit, words=WORDS)
    with pytest.raises(
        ValueError, match=r"expected a model with an input \(batch, frames, columns"
    ):
        SpeechCommands(constant_model((1, 4, 4, 3), {"y": [[0.0]]}), words=WORDS)
    with pytest.raises(ValueError, match="; words has 2"):
        speech(words=["yes", "no"])
    with pytest.raises(
        ModelFormatError, match=r"^SpeechCommands: words: .* has no names of classes"
    ):
        speech(words=b"{}")
    with pytest.raises(ValueError, match="there is no layer 'mean'; did you mean 'means'"):
        speech(features="mean")
    with pytest.raises(TypeError, match="missing a required argument: 'words'"):
        SpeechCommands.load("no such folder")


@pytest.mark.parametrize(
    "shape",
    [
        (FRAMES, COLUMNS - 1, 1),
        (FRAMES + 1, COLUMNS, 1),
        (FRAMES, COLUMNS, 2),
        (FRAMES,),
        (1, 6, 5, 1),
    ],
)
def test_spectrograms_have_the_shape_of_the_input(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"recognize: the spectrogram must have shape \(6, 5, 1\)"):
        speech().recognize(np.zeros(shape, np.float32))
    if shape[0] == FRAMES:
        with pytest.raises(ValueError, match="embed: the spectrogram must have shape"):
            speech().embed(np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"overlap_factor": 1}, "overlap_factor must be less than 1, but is 1"),
        ({"overlap_factor": -0.1}, "overlap_factor must be from 0 to 1, but is -0.1"),
        ({"probability_threshold": 2}, "probability_threshold must be from 0 to 1, but is 2"),
        ({"suppression_time_millis": -1}, "suppression_time_millis must be at least 0, but is -1"),
    ],
)
def test_options_of_listening_are_checked_at_once(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"listen: {message}"):
        speech().listen(recorded([]), **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="listen: the spectrogram must have shape"):
        words_heard([[1.0, 2.0]])
