"""Files that are whole or absent: written under another name, flushed to the disk, then renamed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.model.errors import StoreError

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """A failure to write becomes one line; what was stored before stays as it was."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL or "No space left" in str(error):
            raise StoreError(
                f"the disk is full: {path} could not be written",
                "What was stored before is intact: free some space, or give another folder with --out",
            ) from error
        raise StoreError(
            f"{path} could not be written ({error.strerror or error})", "Check the folder, or give another with --out"
        ) from error


def _write_whole(path: Path, fill: Callable[[Path], None]) -> None:
    temporary = path.with_name(f".{path.name}.part")
    with _explained(path):
        try:
            fill(temporary)
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
            temporary.replace(path)
            _flush_folder(path.parent)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_folder(path: Path, *, exist_ok: bool = True) -> None:
    """Create a folder and its parents; without exist_ok a folder that is there already raises FileExistsError."""
    try:
        path.mkdir(parents=True, exist_ok=exist_ok)
    except FileExistsError:
        if not exist_ok:
            raise
        raise StoreError(f"{path} is a file, not a folder", "Give another folder with --out") from None
    except OSError:
        with _explained(path):
            raise


def hold_folder(folder: Path) -> int | None:
    """Take a folder for this process alone; None when another holds it. Closing what is given, or dying, lets it go."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:
        # A file system without locks: what cannot be held cannot be guarded, and must not keep a run from being stored.
        return handle
    return handle


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON; a number that is not finite becomes null."""
    write_text(path, json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8."""

    def fill(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    _write_whole(path, fill)


def write_table(path: Path, table: pa.Table | Path | str) -> None:
    """Write an Arrow table as Parquet, or copy a file that is already written."""
    if isinstance(table, Path | str):
        source = Path(table)
        _write_whole(path, lambda temporary: _copy(source, temporary))
    else:
        _write_whole(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def read_json(path: Path, way_out: str) -> dict[str, Any]:
    """The JSON object in a file; a missing, truncated or damaged file is a StoreError that names it."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(f"{path} is missing", way_out) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise StoreError(f"{path} is truncated or damaged", way_out) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror})", way_out) from None
    if not isinstance(value, dict):
        raise StoreError(f"{path} is damaged: it holds no JSON object", way_out)
    return value


def read_table(path: Path, way_out: str) -> pa.Table:
    """The table in a Parquet file; a missing, truncated or damaged file is a StoreError that names it."""
    with _read_failures(path, way_out):
        return pq.read_table(path)


def check_table(path: Path, way_out: str) -> None:
    """Raise what `read_table` would raise for a file that was cut off, without reading its rows."""
    with _read_failures(path, way_out):
        pq.read_metadata(path)


@contextlib.contextmanager
def _read_failures(path: Path, way_out: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise StoreError(f"{path} is missing", way_out) from None
    except (pa.ArrowException, OSError):
        raise StoreError(f"{path} is truncated or damaged", way_out) from None


def plain(value: Any) -> Any:
    """A value with only what JSON knows in it: NumPy scalars as numbers, tuples as lists, not-finite as None."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
