"""Utilities around models: data sets, labels, sequences, images, boxes, downloads, progress.

``datasets`` has ``PyDataset``, the base of data sets; ``splitting`` divides a data set in two, and
``file_datasets`` makes data sets of the files in folders, which ``directories`` lists. ``labels``
encodes class labels, ``sequences`` pads sequences and cuts series into windows, ``images`` converts
between Pillow images and arrays, and ``bounding_boxes`` computes with boxes. ``feature_space``
encodes tables. ``downloads`` fetches files, ``progress`` has the progress bar, ``logging`` prints
or logs messages, ``frozen_config`` has ``Config``, ``legacy`` the configurations of
Keras 2, and ``global_state`` random seeds and the names of layers. Each is imported when one of its
names is used.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

#: Which module of ``webtensor.keras`` has which name.
_CONTENTS = contents(
    """
    dtypes: standardize_dtype
    models.dot: model_to_dot
    models.plotting: plot_model
    models.svg: model_to_svg
    registry: CustomObjectScope custom_object_scope deserialize_keras_object get_custom_objects
        get_registered_name get_registered_object register_keras_serializable
        serialize_keras_object
    batch_parts: pack_x_y_sample_weight unpack_x_y_sample_weight
    py_datasets: PyDataset Sequence
    utils.downloads: get_file get_file_async
    feature_space: FeatureSpace
    utils.file_datasets: audio_dataset_from_directory image_dataset_from_directory
        text_dataset_from_directory
    utils.frozen_config: Config
    utils.global_state: clear_session get_source_inputs is_keras_tensor set_random_seed
    utils.images: array_to_img img_to_array load_img save_img
    labels: normalize to_categorical
    logging: disable_interactive_logging enable_interactive_logging
        is_interactive_logging_enabled
    utils.progress: Progbar
    utils.sequences: pad_sequences timeseries_dataset_from_array
    utils.splitting: split_dataset
    """
)

__all__ = [  # noqa: PLE0604  (they are strings)
    "bounding_boxes",
    "legacy",
    *(name for names in _CONTENTS.values() for name in names),
]

if TYPE_CHECKING:
    from webtensor.keras.batch_parts import (
        pack_x_y_sample_weight as pack_x_y_sample_weight,
        unpack_x_y_sample_weight as unpack_x_y_sample_weight,
    )
    from webtensor.keras.dtypes import (
        standardize_dtype as standardize_dtype,
    )
    from webtensor.keras.feature_space import (
        FeatureSpace as FeatureSpace,
    )
    from webtensor.keras.labels import (
        normalize as normalize,
        to_categorical as to_categorical,
    )
    from webtensor.keras.logging import (
        disable_interactive_logging as disable_interactive_logging,
        enable_interactive_logging as enable_interactive_logging,
        is_interactive_logging_enabled as is_interactive_logging_enabled,
    )
    from webtensor.keras.models.dot import (
        model_to_dot as model_to_dot,
    )
    from webtensor.keras.models.plotting import (
        plot_model as plot_model,
    )
    from webtensor.keras.models.svg import (
        model_to_svg as model_to_svg,
    )
    from webtensor.keras.py_datasets import PyDataset as PyDataset, Sequence as Sequence
    from webtensor.keras.registry import (
        CustomObjectScope as CustomObjectScope,
        custom_object_scope as custom_object_scope,
        deserialize_keras_object as deserialize_keras_object,
        get_custom_objects as get_custom_objects,
        get_registered_name as get_registered_name,
        get_registered_object as get_registered_object,
        register_keras_serializable as register_keras_serializable,
        serialize_keras_object as serialize_keras_object,
    )
    from webtensor.keras.utils import (
        bounding_boxes as bounding_boxes,
        legacy as legacy,
    )
    from webtensor.keras.utils.downloads import (
        get_file as get_file,
        get_file_async as get_file_async,
    )
    from webtensor.keras.utils.file_datasets import (
        audio_dataset_from_directory as audio_dataset_from_directory,
        image_dataset_from_directory as image_dataset_from_directory,
        text_dataset_from_directory as text_dataset_from_directory,
    )
    from webtensor.keras.utils.frozen_config import (
        Config as Config,
    )
    from webtensor.keras.utils.global_state import (
        clear_session as clear_session,
        get_source_inputs as get_source_inputs,
        is_keras_tensor as is_keras_tensor,
        set_random_seed as set_random_seed,
    )
    from webtensor.keras.utils.images import (
        array_to_img as array_to_img,
        img_to_array as img_to_array,
        load_img as load_img,
        save_img as save_img,
    )
    from webtensor.keras.utils.progress import (
        Progbar as Progbar,
    )
    from webtensor.keras.utils.sequences import (
        pad_sequences as pad_sequences,
        timeseries_dataset_from_array as timeseries_dataset_from_array,
    )
    from webtensor.keras.utils.splitting import (
        split_dataset as split_dataset,
    )
else:
    __getattr__, __dir__ = lazy_contents(
        __name__, _CONTENTS, "bounding_boxes", "legacy", base="webtensor.keras"
    )
