"""Which Python runs the stages that Spark hands to Python."""

from __future__ import annotations

import os
import sys

OWN_MACHINE = ("local", "spark://127.0.0.1:")


def use_this_python(master: str) -> None:
    """Python workers of this machine run with this interpreter, where streamgauge is installed.

    Call it before Spark starts.
    """
    if master.startswith(OWN_MACHINE):
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
