"""The memory of the machine that tests run on; where it ends, the system kills browsers' pages."""

import shutil
import tempfile
from pathlib import Path

__all__ = ["memory_report"]


def memory_report() -> str:
    """Say how much memory there is, and how many processes were killed for lack of it.

    Browsers keep their profiles in the temporary folder, so its free space is named, too.
    Systems other than Linux don't say how much memory they have.
    """
    free = shutil.disk_usage(tempfile.gettempdir()).free
    space = f"{free >> 20} MiB are free for temporary files"
    try:
        memory = _numbers(Path("/proc/meminfo"))
        kills = _numbers(Path("/proc/vmstat"))["oom_kill"]
    except (OSError, KeyError):
        return f"The system doesn't say how much memory there is; {space}."
    return (
        f"{memory['MemAvailable:'] >> 10} of {memory['MemTotal:'] >> 10} MiB of memory are "
        f"available, and {space}; for lack of memory the system has killed {kills} processes "
        "since it started."
    )


def _numbers(path: Path) -> dict[str, int]:
    """Read a file whose lines have a name, a number and perhaps its unit."""
    lines = [line.split() for line in path.read_text("ascii").splitlines()]
    return {words[0]: int(words[1]) for words in lines}
