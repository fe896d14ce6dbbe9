"""Files that nest deeply, in a page, where an overflow of the stack ends Python for good."""

from tests_browser.python_page import PythonPage

COMMON = """
import io, json, zipfile
import webtensor as wt
from webtensor import keras

def archive(config):
    held = io.BytesIO()
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]).save(held)
    with zipfile.ZipFile(held) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in {**parts, "config.json": config}.items():
            archive.writestr(name, data)
    return held.getvalue()

def nested(depth, kind):
    text = json.dumps({"module": "keras.layers", "class_name": "Dense", "config": {"units": 1}})
    for _ in range(depth):
        inner = f'"layers": [{text}]' if kind == "Sequential" else f'"layer": {text}'
        text = f'{{"class_name": "{kind}", "config": {{{inner}}}}}'
    return text.encode()

def refusal(load, *args):
    try:
        return type(load(*args)).__name__
    except wt.ModelFormatError as error:
        return str(error)
"""

LOAD = f"""{COMMON}
brackets = b"[" * 100_000
described = b'{{"modelTopology": %s, "weightsManifest": []}}'
[
    refusal(keras.saving.load_model, archive(brackets)),
    refusal(keras.saving.load_layers_model, {{"model.json": brackets}}),
    refusal(keras.models.model_from_json, brackets.decode()),
    *[
        refusal(load, data)
        for kind in ("Sequential", "TimeDistributed")
        for depth in (40, 1_000)
        for load, data in (
            (keras.saving.load_model, archive(nested(depth, kind))),
            (keras.models.model_from_json, nested(depth, kind).decode()),
            (keras.saving.load_layers_model, {{"model.json": described % nested(depth, kind)}}),
        )
    ],
]
"""

DEEPEST = f"""{COMMON}
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
for _ in range(28):
    model = keras.Sequential([keras.Input((2,)), model])
held = io.BytesIO()
model.save(held)
again = keras.saving.load_model(held.getvalue())
again(wt.ones((1, 2))).shape
"""

#: As deep as JSON may be, in places that recursive functions walk over.
DEEP_VALUES = f"""{COMMON}
def deep(depth):
    return json.loads("[" * depth + "]" * depth)

def deep_dict(depth):
    return json.loads('{{"a":' * depth + "1" + "}}" * depth)

parts = keras.saving.layers_model_files(
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="d")])
)
described = json.loads(parts["model.json"])
config = keras.saving.serialize_keras_object(
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
)
outcomes = []
for value in (deep(190), deep_dict(190)):
    for change in ("units", "activation", "kernel_initializer", "name"):
        changed = json.loads(json.dumps(config))
        changed["config"]["layers"][1]["config"][change] = value
        outcomes.append(refusal(keras.saving.load_model, archive(json.dumps(changed).encode())))
        topology = json.loads(json.dumps(described))
        topology["modelTopology"]["config"]["layers"][1]["config"][change] = value
        files = {{**parts, "model.json": json.dumps(topology).encode()}}
        outcomes.append(refusal(keras.saving.load_layers_model, files))
    sgd = {{"class_name": "SGD", "config": {{}}}}
    for training in (
        {{"loss": value, "optimizer_config": sgd}},
        {{"loss": "mse", "metrics": value, "optimizer_config": sgd}},
        {{"loss": "mse", "optimizer_config": {{**sgd, "config": {{"lr": value}}}}}},
    ):
        data = json.dumps({{**described, "trainingConfig": training}}).encode()
        files = {{**parts, "model.json": data}}
        outcomes.append(refusal(keras.saving.load_layers_model, files))
outcomes
"""


def test_nested_files_are_refused(any_python_page: PythonPage):
    result = any_python_page.run(LOAD)
    assert len(result) == 15
    for message in result:
        assert "levels deep" in message, result


def test_models_nested_as_deep_as_is_read(any_python_page: PythonPage):
    assert any_python_page.run(DEEPEST) == [1, 1]


def test_values_nested_as_deep_as_is_read(any_python_page: PythonPage):
    assert len(any_python_page.run(DEEP_VALUES)) == 22
