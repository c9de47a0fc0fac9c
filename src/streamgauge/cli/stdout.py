"""Keeps stdout for results: what libraries and child processes print there goes to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def reserved_stdout() -> Iterator[None]:
    """Inside, everything written to stdout, by this process or its children, appears on stderr."""
    sys.stdout.flush()
    with _descriptor_swapped(), contextlib.redirect_stdout(sys.stderr):
        yield


@contextlib.contextmanager
def _descriptor_swapped() -> Iterator[None]:
    try:
        kept = os.dup(1)
    except OSError:  # stdout is closed: there is nothing to keep clean
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
