"""Spoken words, by a network that sees spectrograms as images."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from webtensor.arguments import as_number
from webtensor.audio.spectrograms import normalize_spectrogram
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.keras.layers import Dense, Layer
from webtensor.ops import reshape, tensor
from webtensor.ready_made.class_names import ClassNames, as_class_names
from webtensor.ready_made.classifier import AnyModel, Classifier
from webtensor.ready_made.transfer import TransferClassifier

__all__ = [
    "BACKGROUND_NOISE",
    "UNKNOWN_WORD",
    "FrameWindow",
    "RecognizedWord",
    "SpeechCommands",
]

#: What models call sounds that are no words, and words that they do not know.
BACKGROUND_NOISE, UNKNOWN_WORD = "_background_noise_", "_unknown_"

_SAMPLE_RATE, _FFT_SIZE = 44100.0, 1024

#: The levels of each frequency.
_Frame = Sequence[float]

#: From a spectrogram in decibels to the probabilities of words, the likeliest first.
_Predict = Callable[[Tensor], Awaitable[dict[str, float]]]


@dataclass(frozen=True, slots=True)
class RecognizedWord:
    """A word that was spoken.

    Attributes:
        word: the most probable word.
        probability: how probable it is.
        probabilities: the probability of each word, the most probable first.
    """

    word: str
    probability: float
    probabilities: dict[str, float]


class FrameWindow:
    """The last frames of a stream, and when a model looks at them.

    Args:
        size: the number of frames that the model sees.
        period: after how many frames it looks again.
        suppression: how many frames it waits after it heard something.

    Example:
        >>> from webtensor.audio.speech_commands import FrameWindow
        >>> window = FrameWindow(size=3, period=2, suppression=0)
        >>> [window.add([level]) for level in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
        [False, False, False, True, False, True]
        >>> window.frames()
        [[4.0], [5.0], [6.0]]
    """

    def __init__(self, size: int, period: int, suppression: int) -> None:
        self._frames: deque[_Frame] = deque(maxlen=size)
        self._size, self._period, self._suppression = size, period, suppression
        self._count = 0
        #: The number of frames when something was heard last.
        self._heard: int | None = None

    def add(self, frame: _Frame) -> bool:
        """Add a frame, and return whether it is time to look."""
        self._frames.append(frame)
        self._count += 1
        if len(self._frames) < self._size or self._count % self._period:
            return False
        return self._heard is None or self._count - self._heard > self._suppression

    def frames(self) -> list[_Frame]:
        """Return the last frames, the oldest first."""
        return list(self._frames)

    def suppress(self) -> None:
        """Begin to wait, as something was heard."""
        self._heard = self._count


class SpeechCommands(Classifier):
    """Recognizes single words, such as "yes", "left" and "seven", in about a second of sound.

    Args:
        model: the network, a graph model or a model of Keras, with an input (batch, frames,
            columns, 1) and an output (batch, words). ``SpeechCommands.load`` loads it from its
            files.
        words: the words: a list, or the path, the address or the bytes of a JSON file, such as
            TensorFlow.js's ``metadata.json``.
        features: the layer or the node whose activation ``embed`` returns; by default, of a model
            of Keras, the dense layer before the last one.

    Attributes:
        words: the words, in the order of the model's output.

    Raises:
        ModelFormatError, OSError: the file with the words is malformed, or cannot be read.
        TypeError: ``model`` is no model, or ``words`` are no texts.
        ValueError: it is another model, or there is no such layer or node.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> network = keras.Sequential([
        ...     keras.Input((43, 232, 1)),
        ...     keras.layers.Flatten(),
        ...     keras.layers.Dense(8, activation="relu"),
        ...     keras.layers.Dense(2, activation="softmax"),
        ... ])
        >>> speech = wt.audio.SpeechCommands(network, words=["yes", "no"])
        >>> sound = wt.random_uniform((44100,), -1.0, 1.0, seed=0)
        >>> heard = speech.recognize(wt.audio.spectrogram(sound))
        >>> sorted(heard.probabilities)
        ['no', 'yes']
    """

    _expected = "an input (batch, frames, columns, 1) and an output (batch, words)"
    _names_argument = "words"

    def __init__(self, model: AnyModel, *, words: ClassNames, features: str | None = None) -> None:
        super().__init__(model, features)
        _, frames, columns, channels = self._input_shape
        if not frames or not columns or channels != 1:
            raise self._misfit()
        self._frames, self._columns = frames, columns
        self.words = as_class_names("SpeechCommands", "words", words)
        self._check_class_count([len(self.words)])

    def recognize(self, spectrogram: TensorLike) -> RecognizedWord:
        """Return the word in a spectrogram.

        Args:
            spectrogram: the levels in decibels, of ``wt.audio.spectrogram`` or
                ``wt.data.microphone``: (frames, columns, 1) or (frames, columns). Columns that the
                model does not see are left out.

        Raises:
            ValueError: the spectrogram has another shape.
        """
        batch = self._batch("recognize", spectrogram)
        return _recognized(self._ranked(self._probabilities(batch).tolist()))

    async def recognize_async(self, spectrogram: TensorLike) -> RecognizedWord:
        """Return what ``recognize`` does, without blocking the page.

        Example:
            In a page::

                element = await microphone.capture_async()
                heard = await speech.recognize_async(element["spectrogram"])
        """
        return _recognized(await self._predict(self._batch("recognize_async", spectrogram)))

    def embed(self, spectrogram: TensorLike) -> Tensor:
        """Return the features of a spectrogram, on the device.

        Args:
            spectrogram: as of ``recognize``.

        Returns:
            float32 (size,).

        Raises:
            ValueError: the spectrogram has another shape, or ``features`` is not given and has no
                default.
        """
        return self._embedding("embed", self._batch("embed", spectrogram))

    async def embed_async(self, spectrogram: TensorLike) -> Tensor:
        """Return what ``embed`` does, without blocking the page.

        Example:
            In a page::

                features = await speech.embed_async(element["spectrogram"])
        """
        name = "embed_async"
        return await self._embedding_async(name, self._batch(name, spectrogram))

    def listen(
        self,
        microphone: AsyncIterable[Mapping[str, Tensor]],
        *,
        classifier: TransferClassifier | None = None,
        overlap_factor: float = 0.5,
        probability_threshold: float = 0.0,
        suppression_time_millis: float = 0.0,
        include_noise_and_unknown: bool = False,
    ) -> AsyncIterator[RecognizedWord]:
        """Return an iterator over the words that are spoken.

        The model looks at the last frames, as many as it takes, time and again. Frames of silence
        at the start of a recording are left out.

        Args:
            microphone: a ``wt.data.microphone`` with spectrograms of a few frames each, or other
                elements with a "spectrogram" (frames, columns, 1).
            classifier: one of ``create_transfer``, whose words are recognized instead.
            overlap_factor: how much of what the model sees it has seen the last time, at least 0
                and less than 1.
            probability_threshold: words that are less probable are left out.
            suppression_time_millis: how many milliseconds the model waits after each word.
            include_noise_and_unknown: whether ``BACKGROUND_NOISE`` and ``UNKNOWN_WORD`` count as
                words.

        Raises:
            TypeError: an argument is no number.
            ValueError: an argument is out of range, or spectrograms have too few columns.

        Example:
            In a page::

                options = {"sample_rate_hz": 44100, "num_frames_per_spectrogram": 1}
                with await wt.data.microphone(**options) as microphone:
                    async for heard in speech.listen(microphone, probability_threshold=0.75):
                        print(heard.word)
        """
        overlap = _number("overlap_factor", overlap_factor, 1)
        if overlap == 1:
            raise ValueError("listen: overlap_factor must be less than 1, but is 1")
        threshold = _number("probability_threshold", probability_threshold, 1)
        suppression = _number("suppression_time_millis", suppression_time_millis, inf)
        rate = getattr(microphone, "sample_rate", _SAMPLE_RATE)
        window = FrameWindow(
            self._frames,
            period=max(1, int(self._frames * (1 - overlap) + 0.5)),
            suppression=int(suppression * rate / _FFT_SIZE / 1000 + 0.5),
        )
        left_out = () if include_noise_and_unknown else (BACKGROUND_NOISE, UNKNOWN_WORD)

        def counts(heard: RecognizedWord) -> bool:
            return heard.probability >= threshold and heard.word not in left_out

        predict = self._predict_levels if classifier is None else classifier.predict_async
        return self._heard(microphone, window, predict, counts)

    async def _heard(
        self,
        elements: AsyncIterable[Mapping[str, Tensor]],
        window: FrameWindow,
        predict: _Predict,
        counts: Callable[[RecognizedWord], bool],
    ) -> AsyncIterator[RecognizedWord]:
        async for element in elements:
            for frame in await self._sounding_frames(element["spectrogram"]):
                if not window.add(frame):
                    continue
                heard = _recognized(await predict(tensor(window.frames(), dtype=float32)))
                if counts(heard):
                    window.suppress()
                    yield heard

    async def _sounding_frames(self, levels: Tensor) -> list[_Frame]:
        """Return the frames of a spectrogram that are not silent."""
        rows = await self._visible("listen", levels).array()
        return [row for row in rows if row[0] > -inf]

    def _visible(self, function: str, spectrogram: TensorLike) -> Tensor:
        """Return the frames of a spectrogram (frames, columns) as far as the model sees them."""
        levels = as_operand(function, spectrogram)
        is_spectrogram = len(levels.shape) == 2 or (len(levels.shape) == 3 and levels.shape[2] == 1)
        if not is_spectrogram or levels.shape[1] < self._columns:
            raise self._unfit(function, levels)
        return reshape(levels, levels.shape[:2])[:, : self._columns]

    def _batch(self, function: str, spectrogram: TensorLike) -> Tensor:
        levels = self._visible(function, spectrogram)
        if levels.shape[0] != self._frames:
            raise self._unfit(function, levels)
        return reshape(normalize_spectrogram(levels), (1, self._frames, self._columns, 1))

    def _unfit(self, function: str, levels: Tensor) -> ValueError:
        return ValueError(
            f"{function}: the spectrogram must have shape ({self._frames}, {self._columns}, 1), "
            f"but has {levels.shape}"
        )

    async def _predict_levels(self, levels: Tensor) -> dict[str, float]:
        return await self._predict(self._batch("listen", levels))

    async def _predict(self, batch: Tensor) -> dict[str, float]:
        probabilities = await self._probabilities_async(batch)
        return self._ranked(await probabilities.array())

    def _ranked(self, probabilities: list[float]) -> dict[str, float]:
        pairs = zip(self.words, probabilities, strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))

    @classmethod
    def _is_feature_layer(cls, layer: Layer) -> bool:
        return isinstance(layer, Dense)


def _recognized(probabilities: dict[str, float]) -> RecognizedWord:
    """Return the word of probabilities of which the first is the largest."""
    word, probability = next(iter(probabilities.items()))
    return RecognizedWord(word, probability, probabilities)


def _number(argument: str, value: float, highest: float) -> float:
    number = as_number("listen", argument, value)
    if not 0 <= number <= highest:
        bounds = "at least 0" if highest == inf else f"from 0 to {highest}"
        raise ValueError(f"listen: {argument} must be {bounds}, but is {value}")
    return number
