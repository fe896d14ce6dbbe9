"""Compiles the modules of an archive; runs in Pyodide, for whose CPython the result is."""

from pathlib import Path
from py_compile import PycInvalidationMode, compile as compile_file
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo


def compile_modules(source: str, mounted_at: str, target: str) -> None:
    """Write a copy of the archive `source` with a compiled form beside each module.

    Tracebacks will show the path `mounted_at`, where Python finds the archive. Python imports the
    compiled form and reads a module's text for tracebacks only. The archive has no times, so that
    equal files make equal archives.
    """
    with TemporaryDirectory() as scratch, ZipFile(source) as files, ZipFile(target, "w") as archive:
        for name in files.namelist():
            content = files.read(name)
            _add(archive, name, content)
            if name.endswith(".py"):
                _add(archive, f"{name}c", _compiled(content, f"{mounted_at}/{name}", Path(scratch)))


def _add(archive: ZipFile, name: str, content: bytes) -> None:
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    archive.writestr(entry, content, compresslevel=9)


def _compiled(source: bytes, path: str, scratch: Path) -> bytes:
    module, compiled = scratch / "module.py", scratch / "module.pyc"
    module.write_bytes(source)
    compile_file(
        str(module),
        str(compiled),
        path,
        doraise=True,
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )
    return compiled.read_bytes()
