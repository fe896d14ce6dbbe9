"""Teaches new classes to a network that was trained on photographs, by examples of each."""

from classroom import Classroom, Forget, Learn, Look, Train

import webtensor as wt
from webtensor import keras
from webtensor.vision import FeatureExtractor, KNNClassifier

EPOCHS = 40

classroom = Classroom()
# The inner layers of a MobileNet that was trained to find 80 kinds of objects.
extractor = await FeatureExtractor.load_async(
    "../pretrained/mobilenet.json",
    node="tower_0/MobilenetV3/expanded_conv_12/depthwise/hard_swish/mul_1",
    value_range=(0, 255),
    load_options={"on_progress": classroom.show_loading},
)
size = (await extractor.extract_async(classroom.blank_picture)).size
classroom.open(size)
nearest = KNNClassifier()


async def train_head(examples, class_count):
    """Return a small model that tells the classes of features."""
    keras.utils.set_random_seed(0)
    head = keras.Sequential(
        [
            keras.Input((size,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(class_count, activation="softmax"),
        ]
    )
    head.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    features = wt.stack([example.features for example in examples])
    labels = wt.tensor([example.label for example in examples])
    progress = classroom.training_progress(EPOCHS)
    await head.fit_async(features, labels, epochs=EPOCHS, verbose=0, callbacks=[progress])
    return head


async for task in classroom.tasks():
    match task:
        case Learn(example, label):
            example.features = await extractor.extract_async(example.picture)
            nearest.add_example(example.features, label)
        case Forget():
            nearest.clear_all_classes()
            for example in classroom.examples():
                nearest.add_example(example.features, example.label)
        case Train(class_count):
            classroom.head = await train_head(classroom.examples(), class_count)
        case Look(picture):
            features = await extractor.extract_async(picture)
            if nearest.get_num_classes():
                prediction = await nearest.predict_class_async(features, k=5)
                classroom.show_nearest(prediction.confidences)
            if classroom.head:
                probabilities = await classroom.head(wt.expand_dims(features, 0)).array()
                classroom.show_head(probabilities[0])
