"""Random models of all families of layers: a seed makes the same model with any api.

A ``Composer`` keeps symbolic tensors and, up to nine times, applies a random layer to one of them,
merges several, or calls a model made in the same way. What it decides depends on its generator of
random numbers and on shapes alone, so ``keras`` and ``webtensor.keras`` get the same models.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

#: A tensor with more elements per example than this is made smaller before anything else.
MOST = 400
VOCABULARY = 7
ACTIVATIONS = ("relu", "tanh", "sigmoid", "elu", "selu", "softplus", "gelu", "swish", "linear")
SMOOTH = ("tanh", "sigmoid", "softsign", "gelu")


class Composer:
    """Makes a random model with the namespaces of an api."""

    def __init__(self, api: Any, rng: np.random.Generator, depth: int = 0) -> None:
        self.api, self.layers, self.rng, self.depth = api, api.layers, rng, depth
        #: Layers that were called, each with the shape of its input, to be called again.
        self.called: list[tuple[Any, tuple[int, ...]]] = []

    # -- chance -------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        """Whether something happens."""
        return bool(self.rng.random() < probability)

    def pick(self, *options: Any) -> Any:
        """One of several."""
        return options[int(self.rng.integers(len(options)))]

    def size(self, most: int = 5, least: int = 2) -> int:
        """A small number."""
        return int(self.rng.integers(least, most + 1))

    def seed(self) -> int:
        """A seed for an initializer."""
        return int(self.rng.integers(1 << 30))

    # -- parts of layers ----------------------------------------------------------------------

    def weighted(self, prefix: str = "kernel") -> dict[str, Any]:
        """Regularizers and constraints of a layer, now and then."""
        api, options = self.api, {}
        if self.chance(0.15):
            options[f"{prefix}_regularizer"] = self.pick(
                api.regularizers.L2(0.01), api.regularizers.L1(0.003), api.regularizers.L1L2(0.01)
            )
        if self.chance(0.1):
            options[f"{prefix}_constraint"] = self.pick(
                api.constraints.MaxNorm(0.9),
                api.constraints.UnitNorm(),
                api.constraints.MinMaxNorm(0.2, 0.8, rate=0.7),
            )
        if self.chance(0.05):
            options["activity_regularizer"] = api.regularizers.L2(0.01)
        if self.chance(0.05):
            options["trainable"] = False
        return options

    def dense(self) -> dict[str, Any]:
        """Arguments that layers with a kernel, a bias and an activation share."""
        options = {"activation": self.pick(*ACTIVATIONS), **self.weighted()}
        if self.chance(0.2):
            options["use_bias"] = False
        return options

    def convolution(self, length: int) -> dict[str, Any]:
        """Arguments of convolutions over places of which each axis has at least ``length``."""
        options = {**self.dense(), "kernel_size": self.size(min(3, length), 1)}
        options["padding"] = self.pick("same", "valid")
        if self.chance(0.3):
            options["strides"] = 2
        elif self.chance(0.2) and options["kernel_size"] * 2 <= length:
            options["dilation_rate"] = 2
        return options

    def recurrence(self) -> dict[str, Any]:
        """Arguments that recurrent layers share."""
        options: dict[str, Any] = {"activation": self.pick("tanh", *SMOOTH)}
        if self.chance(0.1):
            options["recurrent_regularizer"] = self.api.regularizers.L2(0.01)
        if self.chance(0.1):
            options["use_bias"] = False
        return options

    def recurrent(self, *, backwards: bool | None = None) -> Any:
        """A recurrent layer."""
        kind = self.pick("LSTM", "GRU", "SimpleRNN", "stack")
        common = {
            "return_sequences": self.chance(0.6),
            "go_backwards": self.chance(0.15) if backwards is None else backwards,
            "unroll": self.chance(0.1),
        }
        if kind == "stack":
            cells = [self.cell() for _ in range(self.size(3))]
            return self.layers.RNN(cells, **common)
        options = {**self.recurrence(), **common}
        if kind == "GRU":
            options["reset_after"] = self.chance(0.7)
        if kind == "LSTM":
            options["unit_forget_bias"] = self.chance(0.7)
        if common["return_sequences"] and self.chance(0.1):
            options["zero_output_for_mask"] = True
        return getattr(self.layers, kind)(self.size(), **options)

    def cell(self) -> Any:
        """A cell of recurrent layers."""
        kind = self.pick("LSTMCell", "GRUCell", "SimpleRNNCell")
        return getattr(self.layers, kind)(self.size(), **self.recurrence())

    # -- layers by the rank of what they take -------------------------------------------------

    def for_any(self, shape: tuple[int, ...]) -> list[Callable[[], Any]]:
        """Layers for tensors of any rank."""
        layers, api = self.layers, self.api
        return [
            lambda: layers.Dense(self.size(), **self.dense()),
            lambda: layers.Activation(self.pick(*ACTIVATIONS)),
            lambda: self.pick(
                layers.ReLU(max_value=4.0, negative_slope=0.1),
                layers.LeakyReLU(negative_slope=0.2),
                layers.ELU(0.7),
                layers.PReLU(alpha_initializer="ones"),
                layers.Activation("softmax"),
            ),
            lambda: layers.BatchNormalization(
                momentum=self.pick(0.9, 0.5), scale=self.chance(0.8), center=self.chance(0.8)
            ),
            lambda: layers.LayerNormalization(scale=self.chance(0.8)),
            lambda: self.pick(layers.RMSNormalization(), layers.UnitNormalization()),
            lambda: layers.Rescaling(1.5, offset=0.1),
            lambda: layers.Normalization(mean=0.2, variance=1.7),
            lambda: self.pick(
                layers.Dropout(0.0), layers.GaussianDropout(0.0), layers.GaussianNoise(0.0)
            ),
            lambda: layers.ActivityRegularization(l2=0.01),
            layers.Identity,
            layers.Flatten,
            lambda: layers.Reshape(self.other_shape(shape)),
            lambda: api.ops.tanh,
            lambda: lambda x: x * 0.5 + 0.1,
        ]

    def other_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape of as many elements, of a rank between 1 and 4."""
        rest, parts = prod(shape), []
        for _ in range(self.size(3, 0)):
            part = self.pick(*[n for n in (2, 3, 4, 5, 6, 1) if rest % n == 0])
            parts.append(part)
            rest //= part
        return (*parts, rest)

    def for_vectors(self, shape: tuple[int, ...]) -> list[Callable[[], Any]]:
        """Layers for (batch, features)."""
        layers = self.layers
        return [
            lambda: layers.RepeatVector(self.size(4)),
            lambda: layers.EinsumDense(
                "ab,bc->ac", output_shape=self.size(), bias_axes="c", **self.weighted()
            ),
            lambda: layers.Dense(self.size(), **self.dense()),
        ]

    def for_sequences(self, shape: tuple[int, ...]) -> list[Callable[[], Any]]:
        """Layers for (batch, steps, features)."""
        layers, steps = self.layers, shape[0]

        def attend(kind: str) -> Callable[[Any], Any]:
            heads = self.size(2, 1)
            arguments = (2 * heads, heads) if kind == "GroupQueryAttention" else (heads,)
            layer = getattr(layers, kind)(
                *(arguments if len(arguments) == 1 else (3, *arguments)),
                **({"key_dim": 3} if len(arguments) == 1 else {}),
            )
            causal = self.chance(0.3)
            return lambda x: layer(x, x, use_causal_mask=causal)

        def attend_to_list(kind: str) -> Callable[[Any], Any]:
            layer = getattr(layers, kind)(use_scale=self.chance(0.5))
            return lambda x: layer([x, x])

        def with_states(x: Any) -> Any:
            units = self.size()
            _, *states = layers.LSTM(units, return_state=True)(x)
            return layers.LSTM(units, return_sequences=self.chance(0.5))(x, initial_state=states)

        def merged(x: Any) -> Any:
            layer = self.recurrent(backwards=False)
            mode = self.pick("concat", "sum", "mul", "ave")
            return layers.Bidirectional(layer, merge_mode=mode)(x)

        return [
            self.recurrent,
            self.recurrent,
            lambda: merged,
            lambda: with_states,
            lambda: attend("MultiHeadAttention"),
            lambda: attend("GroupQueryAttention"),
            lambda: attend_to_list(self.pick("Attention", "AdditiveAttention")),
            lambda: layers.TimeDistributed(layers.Dense(self.size(), **self.dense())),
            lambda: layers.Conv1D(self.size(), **self.convolution(steps)),
            lambda: layers.SeparableConv1D(
                self.size(), self.size(min(3, steps), 1), padding=self.pick("same", "valid")
            ),
            lambda: layers.DepthwiseConv1D(self.size(min(3, steps), 1), padding="same"),
            lambda: layers.Conv1DTranspose(self.size(), 3, strides=self.pick(1, 2)),
            lambda: self.pick(layers.MaxPooling1D, layers.AveragePooling1D)(
                self.size(min(3, steps), 1), padding=self.pick("same", "valid")
            ),
            layers.GlobalMaxPooling1D,
            layers.GlobalAveragePooling1D,
            lambda: self.pick(layers.UpSampling1D(2), layers.ZeroPadding1D(1)),
            lambda: layers.Cropping1D((0, 1)) if steps > 1 else layers.Identity(),
            lambda: layers.Permute((2, 1)),
            lambda: layers.Masking(0.0),
            lambda: layers.SpatialDropout1D(0.0),
            lambda: layers.EinsumDense("abc,cd->abd", output_shape=(steps, self.size())),
            lambda: layers.GroupNormalization(self.pick(1, -1)),
        ]

    def for_images(self, shape: tuple[int, ...]) -> list[Callable[[], Any]]:
        """Layers for (batch, height, width, channels)."""
        layers, (height, width, channels) = self.layers, shape
        length = min(height, width)

        def pooled() -> Any:
            kind = self.pick(layers.MaxPooling2D, layers.AveragePooling2D)
            size, padding = self.size(min(3, length), 1), self.pick("same", "valid")
            return kind(size, padding=padding, strides=self.pick(None, 1))

        return [
            lambda: layers.Conv2D(self.size(), **self.convolution(length)),
            lambda: layers.Conv2D(
                2 * channels, 1, groups=channels, activation=self.pick(*ACTIVATIONS)
            ),
            lambda: layers.SeparableConv2D(
                self.size(), self.size(min(3, length), 1), padding="same"
            ),
            lambda: layers.DepthwiseConv2D(
                self.size(min(3, length), 1), depth_multiplier=self.pick(1, 2), padding="same"
            ),
            lambda: layers.Conv2DTranspose(
                self.size(3),
                self.size(3),
                strides=self.pick(1, 2),
                padding=self.pick("same", "valid"),
            ),
            pooled,
            lambda: self.pick(layers.GlobalMaxPooling2D, layers.GlobalAveragePooling2D)(
                keepdims=self.chance(0.3)
            ),
            lambda: layers.UpSampling2D(2, interpolation=self.pick("nearest", "bilinear")),
            lambda: layers.ZeroPadding2D(((0, 1), (1, 0))),
            lambda: layers.Cropping2D(((0, 1), (0, 0))) if height > 1 else layers.Identity(),
            lambda: layers.Resizing(self.size(), self.size()),
            lambda: layers.CenterCrop(max(height - 1, 1), max(width - 1, 1)),
            lambda: layers.GroupNormalization(self.pick(1, -1)),
            lambda: layers.Permute((2, 1, 3)),
            lambda: layers.TimeDistributed(layers.Conv1D(self.size(), 2, padding="same")),
            lambda: layers.ConvLSTM1D(
                self.size(3), self.size(min(3, width), 1), padding="same", return_sequences=True
            ),
            lambda: layers.SpatialDropout2D(0.0),
        ]

    def for_volumes(self, shape: tuple[int, ...]) -> list[Callable[[], Any]]:
        """Layers for (batch, depth, height, width, channels)."""
        layers = self.layers
        length = min(shape[:3])
        return [
            lambda: layers.Conv3D(self.size(3), **self.convolution(length)),
            lambda: layers.Conv3DTranspose(self.size(3), 2, strides=self.pick(1, 2)),
            lambda: self.pick(layers.MaxPooling3D, layers.AveragePooling3D)(
                self.size(min(2, length), 1), padding=self.pick("same", "valid")
            ),
            layers.GlobalMaxPooling3D,
            layers.GlobalAveragePooling3D,
            lambda: self.pick(layers.UpSampling3D(2), layers.ZeroPadding3D(1)),
            lambda: layers.Cropping3D(((1, 0), (0, 0), (0, 0)))
            if shape[0] > 1
            else layers.Identity(),
            lambda: layers.ConvLSTM2D(
                self.size(2), self.size(min(2, length), 1), return_sequences=self.chance(0.5),
                padding="same",
            ),
            lambda: layers.TimeDistributed(layers.Conv2D(self.size(3), 2, padding="same")),
        ]  # fmt: skip

    # -- putting together ---------------------------------------------------------------------

    def applied(self, x: Any) -> Any:
        """What something random makes of a tensor."""
        shape = tuple(x.shape[1:])
        again = [layer for layer, layer_shape in self.called if layer_shape == shape]
        if again and self.chance(0.15):
            return self.pick(*again)(x)
        if self.depth < 2 and self.chance(0.1):
            return self.nested(shape)(x)
        own = (self.for_vectors, self.for_sequences, self.for_images, self.for_volumes)
        options = self.for_any(shape)
        if len(shape) <= len(own):
            particular = own[len(shape) - 1](shape)
            options = particular if self.chance(0.65) else options
        layer = self.pick(*options)()
        y = layer(x)
        # With JAX, Keras counts the activity of the last call of a layer alone.
        if isinstance(layer, self.layers.Layer) and layer.activity_regularizer is None:
            self.called.append((layer, shape))
        return y

    def smaller(self, x: Any) -> Any:
        """A tensor with fewer elements."""
        layers, rank = self.layers, len(x.shape) - 1
        kinds = {2: "1D", 3: "2D", 4: "3D"}
        if rank in kinds and self.chance(0.6):
            return getattr(layers, f"Global{self.pick('Max', 'Average')}Pooling{kinds[rank]}")()(x)
        return layers.Dense(4)(layers.Flatten()(x))

    def merged(self, tensors: list[Any]) -> Any:
        """What a layer, or an operation, makes of several tensors of one shape."""
        layers = self.layers
        kind = self.pick(
            "Add", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Subtract", "+"
        )
        if kind == "+":
            return tensors[0] + tensors[1]
        return getattr(layers, kind)()(tensors[:2] if kind == "Subtract" else tensors)

    def nested(self, shape: tuple[int, ...]) -> Any:
        """A model to be called as a layer: a Sequential or a functional one."""
        inside = Composer(self.api, self.rng, self.depth + 1)
        x = begin = self.api.Input(shape)
        if self.chance(0.5):
            parts = [self.layers.Dense(self.size(), **self.dense()) for _ in range(self.size(3, 1))]
            return self.api.Sequential([begin, *parts])
        for _ in range(self.size(3, 1)):
            x = inside.applied(x)
            x = inside.smaller(x) if prod(x.shape[1:]) > MOST else x
        if self.chance(0.2) and x.shape == begin.shape:
            x = self.layers.Add()([x, begin])
        x = self.layers.Identity()(x) if x is begin else x
        return self.api.Model(begin, x)

    def input(self) -> tuple[Any, Any]:
        """An input, and a tensor of floats to go on with."""
        kind = self.pick("vector", "sequence", "sequence", "indices", "indices", "image", "volume")
        api, layers = self.api, self.layers
        if kind == "indices":
            name = f"indices_{self.seed()}"
            dtype = self.pick("int32", "float32")
            indices = api.Input((self.size(6, 3),), dtype=dtype, name=name)
            embedding = layers.Embedding(
                VOCABULARY, self.size(), mask_zero=self.chance(0.7), **self.weighted("embeddings")
            )
            return indices, embedding(indices)
        shapes = {
            "vector": (self.size(6),),
            "sequence": (self.size(6, 3), self.size()),
            "image": (self.size(6, 3), self.size(6, 3), self.size(3, 1)),
            "volume": (self.size(4), self.size(4), self.size(4), self.size(2, 1)),
        }
        x = api.Input(shapes[kind])
        return x, x

    def output(self, x: Any) -> Any:
        """The model's output of a tensor."""
        layers = self.layers
        if len(x.shape) > 2:
            x = self.smaller(x) if self.chance(0.5) else layers.Flatten()(x)
        return layers.Dense(3, activation=self.pick("softmax", "sigmoid", "linear"))(x)

    def model(self) -> Any:
        """A model of one input or two, with one output or two."""
        begins = [self.input() for _ in range(self.pick(1, 1, 2))]
        tensors = [x for _, x in begins]
        for _ in range(self.size(9, 3)):
            index = int(self.rng.integers(len(tensors)))
            x = tensors[index]
            if prod(x.shape[1:]) > MOST:
                y = self.smaller(x)
            else:
                alike = [
                    tensor for tensor in tensors if tensor is not x and tensor.shape == x.shape
                ]
                y = self.merged([x, *alike[:2]]) if alike and self.chance(0.6) else self.applied(x)
            if self.chance(0.3):
                tensors.append(y)
            else:
                tensors[index] = y
        ends = [self.output(x) for x in (tensors if len(tensors) <= 2 else tensors[-2:])]
        used = _inputs_of(ends)
        rest = [x for begin, x in begins if id(begin) not in used]
        if rest:
            ends[0] = self.layers.Add()([ends[0], *map(self.output, rest)])
        inputs = [begin for begin, _ in begins]
        return self.api.Model(
            inputs[0] if len(inputs) == 1 else inputs, ends[0] if len(ends) == 1 else ends
        )

    # -- training -----------------------------------------------------------------------------

    def compiled(self, model: Any) -> Any:
        """The model with a random optimizer, losses and metrics."""
        optimizers = self.api.optimizers
        rate = 0.01
        if self.chance(0.2):
            rate = optimizers.schedules.ExponentialDecay(0.02, 2, 0.8)
        # Without Lamb: compiled as quickly as here, XLA sometimes makes its moments infinite.
        kind = self.pick(
            "SGD", "Momentum", "Nesterov", "Adam", "AdamW", "Adamax", "Nadam", "RMSprop", "Adagrad",
            "Adadelta", "Ftrl",
        )  # fmt: skip
        options: dict[str, Any] = {}
        if kind in ("Momentum", "Nesterov"):
            options = {"momentum": 0.9, "nesterov": kind == "Nesterov"}
            kind = "SGD"
        if self.chance(0.25):
            options |= self.pick(
                {"clipnorm": 0.5}, {"clipvalue": 0.3}, {"global_clipnorm": 0.7},
                {"use_ema": True, "ema_momentum": 0.8}, {"weight_decay": 0.02},
                {"gradient_accumulation_steps": 2},
            )  # fmt: skip
        losses = [self.loss() for _ in model.outputs]
        metrics = [[self.metric()] for _ in model.outputs]
        model.compile(
            getattr(optimizers, kind)(rate, **options),
            losses[0] if len(losses) == 1 else losses,
            metrics=metrics[0] if len(metrics) == 1 else metrics,
        )
        return model

    def loss(self) -> Any:
        """A loss for three numbers of any size."""
        losses = self.api.losses
        return self.pick(
            losses.MeanSquaredError(),
            losses.Huber(),
            losses.LogCosh(),
            losses.MeanAbsoluteError(),
            losses.CosineSimilarity(),
            losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
            losses.BinaryCrossentropy(from_logits=True),
        )

    def metric(self) -> Any:
        """A metric."""
        metrics = self.api.metrics
        return self.pick(
            metrics.MeanAbsoluteError(name="error"),
            metrics.RootMeanSquaredError(name="root"),
            metrics.CosineSimilarity(name="cosine"),
            metrics.LogCoshError(name="logcosh"),
        )


def _inputs_of(ends: list[Any]) -> set[int]:
    """Identities of the inputs that outputs are computed from."""
    identities: set[int] = set()
    waiting = list(ends)
    while waiting:
        x = waiting.pop()
        if id(x) in identities:
            continue
        identities.add(id(x))
        operation, index, _ = x._keras_history
        node = operation._inbound_nodes[index]
        waiting += getattr(node, "input_tensors", None) or getattr(node, "inputs", [])
    return identities


def composite(api: Any, seed: int) -> Any:
    """Return the model of a seed, compiled, with random weights."""
    composer = Composer(api, np.random.default_rng(seed))
    model = composer.compiled(composer.model())
    model.optimizer.build(model.trainable_variables)
    rng = np.random.default_rng(seed)
    model.set_weights([_value(weight, rng) for weight in model.weights])
    return model


def _value(variable: Any, rng: np.random.Generator) -> np.ndarray:
    """A random value of a variable: of kernels as by Glorot, positive where it must be."""
    shape, name = tuple(variable.shape), variable.path.rpartition("/")[2]
    if not str(variable.dtype).endswith("float32"):
        return np.asarray(variable.value)
    if name.endswith("variance") or name in ("gamma", "scale"):
        return rng.uniform(0.5, 1.5, shape).astype("float32")
    spread = 0.2 if len(shape) < 2 else np.sqrt(2 / (shape[-1] + prod(shape[:-1])))
    return (spread * rng.normal(size=shape)).astype("float32")


def examples(model: Any, seed: int, count: int = 4) -> tuple[Any, Any]:
    """Inputs and targets for a model; some steps are zeros, so that masks matter."""
    rng = np.random.default_rng(seed + 1)
    inputs = []
    for symbol in model.inputs:
        shape = (count, *symbol.shape[1:])
        x: Any
        if len(shape) == 2 and _is_embedded(symbol):
            x = rng.integers(0, VOCABULARY, shape)
            x[0, -2:] = 0
            inputs.append(x.astype("int32" if "int" in str(symbol.dtype) else "float32"))
        else:
            x = rng.normal(size=shape)
            if len(shape) == 3:
                x[0, -1] = x[1, :1] = 0
            inputs.append(x.astype("float32"))
    targets = [np.eye(3, dtype="float32")[rng.integers(0, 3, count)] for _ in model.outputs]
    return (
        inputs[0] if len(inputs) == 1 else inputs,
        targets[0] if len(targets) == 1 else targets,
    )


def _is_embedded(symbol: Any) -> bool:
    return "indices" in symbol._keras_history.operation.name
