"""Layers, one module per family.

``dense``, ``einsum_dense`` and ``embedding`` have weighted sums and rows, ``convolution`` and
``pooling`` windows, ``merging`` layers of several inputs, ``reshaping`` layers that rearrange or
repeat elements, ``core`` activations and functions, ``input_layer`` the inputs of models.

``layer`` is the base of all, with ``layer_state``, ``call_signature`` and ``input_spec``. Families
share ``elementwise`` (outputs have the shape of inputs), ``weighted`` (an initializer, a
regularizer and a constraint per weight), ``lora`` and ``low_rank`` (low-rank adaptation),
``spatial_arguments`` and ``fused_activation``;
``webtensor.keras.sliding_windows`` computes windows for layers and for ``keras.ops``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    activations: ELU LeakyReLU PReLU ReLU Softmax ThresholdedReLU
    attention: AdditiveAttention Attention GroupQueryAttention MultiHeadAttention
    bidirectional: Bidirectional
    convolution: Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose
        Convolution1D Convolution1DTranspose Convolution2D Convolution2DTranspose Convolution3D
        Convolution3DTranspose DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D
        SeparableConvolution1D SeparableConvolution2D
    core: Activation Identity Lambda
    dense: Dense
    einsum_dense: EinsumDense
    embedding: Embedding ReversibleEmbedding
    input_layer: Input InputLayer
    input_spec: InputSpec
    layer: Layer
    masking: Masking
    merging: Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average
        concatenate dot maximum minimum multiply subtract
    normalization: BatchNormalization GroupNormalization LayerNormalization RMSNormalization
        UnitNormalization
    pooling: AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D
        AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D AveragePooling1D
        AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D GlobalAveragePooling1D
        GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
        GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D
        GlobalMaxPooling2D GlobalMaxPooling3D MaxPool1D MaxPool2D MaxPool3D MaxPooling1D
        MaxPooling2D MaxPooling3D
    preprocessing: CategoryEncoding Discretization HashedCrossing Hashing IntegerLookup
        MelSpectrogram Normalization Pipeline Rescaling STFTSpectrogram StringLookup
        TextVectorization
    preprocessing.images: AugMix AutoContrast CenterCrop
        ContrastLimitedAdaptiveHistogramEqualization CutMix Equalization MaxNumBoundingBoxes
        MixUp RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter
        RandomContrast RandomCrop RandomElasticTransform RandomErasing RandomFlip
        RandomGaussianBlur RandomGrayscale RandomHeight RandomHue RandomInvert RandomPerspective
        RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear
        RandomTranslation RandomWidth RandomZoom Resizing Solarization
    recurrent: ConvLSTM1D ConvLSTM2D ConvLSTM3D GRU GRUCell LSTM LSTMCell RNN SimpleRNN
        SimpleRNNCell StackedRNNCells
    regularization: ActivityRegularization AlphaDropout Dropout GaussianDropout GaussianNoise
        SpatialDropout1D SpatialDropout2D SpatialDropout3D
    reshaping: Cropping1D Cropping2D Cropping3D Flatten Permute RepeatVector Reshape
        UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D
    serialization: deserialize serialize
    spectral_normalization: SpectralNormalization
    time_distributed: TimeDistributed
    wrapper: Wrapper
    """
)

if TYPE_CHECKING:
    from webtensor.keras.layers.activations import *
    from webtensor.keras.layers.attention import *
    from webtensor.keras.layers.bidirectional import *
    from webtensor.keras.layers.convolution import *
    from webtensor.keras.layers.core import *
    from webtensor.keras.layers.dense import *
    from webtensor.keras.layers.einsum_dense import *
    from webtensor.keras.layers.embedding import *
    from webtensor.keras.layers.input_layer import *
    from webtensor.keras.layers.input_spec import (
        InputSpec as InputSpec,
    )
    from webtensor.keras.layers.layer import *
    from webtensor.keras.layers.masking import *
    from webtensor.keras.layers.merging import *
    from webtensor.keras.layers.normalization import *
    from webtensor.keras.layers.pooling import *
    from webtensor.keras.layers.preprocessing import (
        CategoryEncoding as CategoryEncoding,
        Discretization as Discretization,
        HashedCrossing as HashedCrossing,
        Hashing as Hashing,
        IntegerLookup as IntegerLookup,
        MelSpectrogram as MelSpectrogram,
        Normalization as Normalization,
        Pipeline as Pipeline,
        Rescaling as Rescaling,
        STFTSpectrogram as STFTSpectrogram,
        StringLookup as StringLookup,
        TextVectorization as TextVectorization,
    )
    from webtensor.keras.layers.preprocessing.images import (
        AugMix as AugMix,
        AutoContrast as AutoContrast,
        CenterCrop as CenterCrop,
        ContrastLimitedAdaptiveHistogramEqualization as ContrastLimitedAdaptiveHistogramEqualization,  # noqa: E501
        CutMix as CutMix,
        Equalization as Equalization,
        MaxNumBoundingBoxes as MaxNumBoundingBoxes,
        MixUp as MixUp,
        RandAugment as RandAugment,
        RandomBrightness as RandomBrightness,
        RandomColorDegeneration as RandomColorDegeneration,
        RandomColorJitter as RandomColorJitter,
        RandomContrast as RandomContrast,
        RandomCrop as RandomCrop,
        RandomElasticTransform as RandomElasticTransform,
        RandomErasing as RandomErasing,
        RandomFlip as RandomFlip,
        RandomGaussianBlur as RandomGaussianBlur,
        RandomGrayscale as RandomGrayscale,
        RandomHeight as RandomHeight,
        RandomHue as RandomHue,
        RandomInvert as RandomInvert,
        RandomPerspective as RandomPerspective,
        RandomPosterization as RandomPosterization,
        RandomRotation as RandomRotation,
        RandomSaturation as RandomSaturation,
        RandomSharpness as RandomSharpness,
        RandomShear as RandomShear,
        RandomTranslation as RandomTranslation,
        RandomWidth as RandomWidth,
        RandomZoom as RandomZoom,
        Resizing as Resizing,
        Solarization as Solarization,
    )
    from webtensor.keras.layers.recurrent import *
    from webtensor.keras.layers.regularization import *
    from webtensor.keras.layers.reshaping import *
    from webtensor.keras.layers.serialization import *
    from webtensor.keras.layers.spectral_normalization import *
    from webtensor.keras.layers.time_distributed import *
    from webtensor.keras.layers.wrapper import *
else:
    __all__ = [  # noqa: PLE0604  (they are strings)
        *(name for names in _CONTENTS.values() for name in names),
    ]

    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS)
