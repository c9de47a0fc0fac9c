"""A server over a folder of runs, in a thread of the test."""

from __future__ import annotations

import threading
from pathlib import Path

from streamgauge.dashboard.guard import Control
from streamgauge.dashboard.serving import bind, end, server


class Served:
    """A server of its own over a folder of runs."""

    def __init__(self, root: Path) -> None:
        self.bound = bind("127.0.0.1", 0)
        self.control = Control.at("127.0.0.1", self.bound.port)
        self.address = self.bound.address
        self.with_token = self.bound.address_with_token(self.control)
        self._server = server(self.bound, root, self.control)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self.bound.socket]}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        end(self._server)
        self._server.should_exit = True
        self._thread.join(10)
        self.bound.socket.close()
