"""The memory of the machine that tests run on; where it ends, the system kills browsers' pages."""

from pathlib import Path

__all__ = ["memory_report"]


def memory_report() -> str:
    """Say how much memory there is, and how many processes were killed for lack of it.

    Systems other than Linux don't say.
    """
    try:
        memory = _numbers(Path("/proc/meminfo"))
        kills = _numbers(Path("/proc/vmstat"))["oom_kill"]
    except (OSError, KeyError):
        return "The system doesn't say how much memory there is."
    return (
        f"{memory['MemAvailable:'] >> 10} of {memory['MemTotal:'] >> 10} MiB of memory are "
        f"available; for lack of it the system has killed {kills} processes since it started."
    )


def _numbers(path: Path) -> dict[str, int]:
    """Read a file whose lines have a name, a number and perhaps its unit."""
    lines = [line.split() for line in path.read_text("ascii").splitlines()]
    return {words[0]: int(words[1]) for words in lines}
