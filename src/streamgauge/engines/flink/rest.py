"""Flink's REST interface, of the local mini-cluster and of a cluster alike."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from typing import Any

_TIMEOUT_S = 5.0


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Rest:
    """One address that answers for a cluster."""

    def __init__(self, host: str, port: int) -> None:
        self._base = f"http://{host}:{port}"

    def get(self, path: str) -> dict[str, Any]:
        """The answer to a question; none where there is no answer."""
        # A proxy of the environment must not be asked for this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self._base}{path}", timeout=_TIMEOUT_S) as answer:
                return dict(json.load(answer))
        except (OSError, ValueError, urllib.error.URLError):
            return {}

    def all_run(self, job_id: str) -> bool:
        """Whether every task of the job runs, or has read a stored table to its end."""
        vertices = self.get(f"/jobs/{job_id}").get("vertices", [])
        return bool(vertices) and all(each["status"] in ("RUNNING", "FINISHED") for each in vertices)
