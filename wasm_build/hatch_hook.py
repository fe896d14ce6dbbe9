"""The wheel's build hook: compiles the kernels before hatchling collects the package's files.

Runs for wheels and for editable installs. `build.py` does the work; this module only calls it when
hatchling builds, and compresses the wheel further.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("pkg/webtensor/backends/wasm/kernels")


class KernelsBuildHook(BuildHookInterface[Any]):
    """Puts the compiled `.wasm` files into the package's folder."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, for a "standard" and for an "editable" wheel (`version`) alike."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root))
        try:
            compiled = import_module("wasm_build.build").build(root / KERNELS)
        finally:
            sys.path.remove(str(root))
        for path in compiled:
            self.app.display_info(f"kernels: {path.name}, {path.stat().st_size:,} bytes")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Compress the wheel as far as zlib does, which takes 4 kB off hatchling's 2 MB."""
        if self.target_name != "wheel":
            return
        with ZipFile(artifact_path) as archive:
            files = [(entry, archive.read(entry)) for entry in archive.infolist()]
        with ZipFile(artifact_path, "w") as archive:
            for entry, content in files:
                archive.writestr(entry, content, compresslevel=9)
