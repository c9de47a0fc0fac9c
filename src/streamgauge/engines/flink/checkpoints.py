"""Flink's checkpoints on disk: where the newest that is complete lies, and what belongs to a job over its restarts."""

from __future__ import annotations

from pathlib import Path

from streamgauge.engines.flink import origin

_COMPLETE = "_metadata"
_SINCE = "streamgauge-since"


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint of all jobs that wrote into the folder; a restarted one counts on."""
    found = [each.parent for each in folder.glob(f"*/chk-*/{_COMPLETE}")]
    return max(found, key=lambda each: (_number(each), each.stat().st_mtime), default=None)


def _number(checkpoint: Path) -> int:
    return int(checkpoint.name.partition("-")[2])


def since_ms(folder: Path, now_ms: int) -> int:
    """The earliest append time that places in the order tell of: the same after a restart as at the first start."""
    kept = folder / _SINCE
    if not kept.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(str(origin.first_ms(now_ms)))
    return int(kept.read_text())
