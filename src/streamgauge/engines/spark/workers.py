"""Which Python runs the stages that Spark hands to Python."""

from __future__ import annotations

import os
import sys


def use_this_python(master: str) -> None:
    """Local Python workers run with this interpreter, where streamgauge is installed; call it before Spark starts."""
    if master.startswith("local"):
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
