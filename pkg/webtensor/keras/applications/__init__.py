"""Networks for images, with the names, arguments and layers of ``keras.applications``.

Each family has a module, with the functions that build its networks, ``preprocess_input`` and
``decode_predictions``. ``networks`` has what the families share, ``pretrained`` loads weights, and
``imagenet_utils`` preprocesses images and names classes.

Example:
    >>> from webtensor import keras
    >>> model = keras.applications.MobileNetV3Small(
    ...     alpha=0.25, weights=None, input_shape=(32, 32, 3), classes=2
    ... )
    >>> model.output_shape
    (None, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    convnext: ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge
    densenet: DenseNet121 DenseNet169 DenseNet201
    efficientnet: EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4
        EfficientNetB5 EfficientNetB6 EfficientNetB7
    efficientnet_v2: EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3
        EfficientNetV2L EfficientNetV2M EfficientNetV2S
    inception_resnet_v2: InceptionResNetV2
    inception_v3: InceptionV3
    mobilenet: MobileNet
    mobilenet_v2: MobileNetV2
    mobilenet_v3: MobileNetV3Large MobileNetV3Small
    nasnet: NASNetLarge NASNetMobile
    networks: build_async
    resnet: ResNet50 ResNet101 ResNet152
    resnet_v2: ResNet50V2 ResNet101V2 ResNet152V2
    vgg16: VGG16
    vgg19: VGG19
    xception: Xception
    """
)
#: The modules that Keras has, too.
_MODULES = (
    "imagenet_utils",
    *(module for module in _CONTENTS if module != "networks"),
    "resnet50",
)

__all__ = [  # noqa: PLE0604  (they are strings)
    *_MODULES,
    *(name for names in _CONTENTS.values() for name in names),
]

if TYPE_CHECKING:
    from webtensor.keras.applications import (
        convnext as convnext,
        densenet as densenet,
        efficientnet as efficientnet,
        efficientnet_v2 as efficientnet_v2,
        imagenet_utils as imagenet_utils,
        inception_resnet_v2 as inception_resnet_v2,
        inception_v3 as inception_v3,
        mobilenet as mobilenet,
        mobilenet_v2 as mobilenet_v2,
        mobilenet_v3 as mobilenet_v3,
        nasnet as nasnet,
        resnet as resnet,
        resnet50 as resnet50,
        resnet_v2 as resnet_v2,
        vgg16 as vgg16,
        vgg19 as vgg19,
        xception as xception,
    )
    from webtensor.keras.applications.convnext import (
        ConvNeXtBase as ConvNeXtBase,
        ConvNeXtLarge as ConvNeXtLarge,
        ConvNeXtSmall as ConvNeXtSmall,
        ConvNeXtTiny as ConvNeXtTiny,
        ConvNeXtXLarge as ConvNeXtXLarge,
    )
    from webtensor.keras.applications.densenet import (
        DenseNet121 as DenseNet121,
        DenseNet169 as DenseNet169,
        DenseNet201 as DenseNet201,
    )
    from webtensor.keras.applications.efficientnet import (
        EfficientNetB0 as EfficientNetB0,
        EfficientNetB1 as EfficientNetB1,
        EfficientNetB2 as EfficientNetB2,
        EfficientNetB3 as EfficientNetB3,
        EfficientNetB4 as EfficientNetB4,
        EfficientNetB5 as EfficientNetB5,
        EfficientNetB6 as EfficientNetB6,
        EfficientNetB7 as EfficientNetB7,
    )
    from webtensor.keras.applications.efficientnet_v2 import (
        EfficientNetV2B0 as EfficientNetV2B0,
        EfficientNetV2B1 as EfficientNetV2B1,
        EfficientNetV2B2 as EfficientNetV2B2,
        EfficientNetV2B3 as EfficientNetV2B3,
        EfficientNetV2L as EfficientNetV2L,
        EfficientNetV2M as EfficientNetV2M,
        EfficientNetV2S as EfficientNetV2S,
    )
    from webtensor.keras.applications.inception_resnet_v2 import (
        InceptionResNetV2 as InceptionResNetV2,
    )
    from webtensor.keras.applications.inception_v3 import (
        InceptionV3 as InceptionV3,
    )
    from webtensor.keras.applications.mobilenet import (
        MobileNet as MobileNet,
    )
    from webtensor.keras.applications.mobilenet_v2 import (
        MobileNetV2 as MobileNetV2,
    )
    from webtensor.keras.applications.mobilenet_v3 import (
        MobileNetV3Large as MobileNetV3Large,
        MobileNetV3Small as MobileNetV3Small,
    )
    from webtensor.keras.applications.nasnet import (
        NASNetLarge as NASNetLarge,
        NASNetMobile as NASNetMobile,
    )
    from webtensor.keras.applications.networks import (
        build_async as build_async,
    )
    from webtensor.keras.applications.resnet import (
        ResNet50 as ResNet50,
        ResNet101 as ResNet101,
        ResNet152 as ResNet152,
    )
    from webtensor.keras.applications.resnet_v2 import (
        ResNet50V2 as ResNet50V2,
        ResNet101V2 as ResNet101V2,
        ResNet152V2 as ResNet152V2,
    )
    from webtensor.keras.applications.vgg16 import (
        VGG16 as VGG16,
    )
    from webtensor.keras.applications.vgg19 import (
        VGG19 as VGG19,
    )
    from webtensor.keras.applications.xception import (
        Xception as Xception,
    )
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS, *_MODULES)
