"""What makes an output unique, so that a store can turn away what is written again."""

from __future__ import annotations

import hashlib
import os


def identity(key: str | None, value: str, origin: str | None) -> bytes:
    """What makes an output unique, as 32 bytes: the same for the same output, also after a restart.

    Without an origin nothing tells a repeat from another output of the same value, so each is taken for another.
    """
    if not origin:
        return os.urandom(32)
    parts = [b"\0" if key is None else b"\1" + key.encode(), origin.encode(), value.encode()]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()
