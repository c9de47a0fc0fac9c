"""What the Makefile asks for: `python -m streamgauge.provision fetch` gets the jars, `lock` pins them anew."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from streamgauge.model.errors import StreamgaugeError, unknown
from streamgauge.provision.jars import fetch, setup_jars
from streamgauge.provision.locking import write_lock


def _fetch() -> None:
    jars = list(dict.fromkeys(jar for group in setup_jars().values() for jar in group))
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task("jars", total=None)

    def show(done_bytes: int, total_bytes: int) -> None:
        bar.start()
        bar.update(task, completed=done_bytes, total=total_bytes)

    try:
        fetch(jars, show)
    finally:
        bar.stop()
    print(f"{len(jars)} jars are in place")


def _lock() -> None:
    print(f"wrote {write_lock().name}")


def main(arguments: list[str]) -> int:
    """Run one verb and give the exit code."""
    verbs = {"fetch": _fetch, "lock": _lock}
    try:
        verb = arguments[0] if arguments else "fetch"
        if verb not in verbs:
            raise unknown("verb", verb, list(verbs))
        verbs[verb]()
    except StreamgaugeError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
