"""Which Python runs the stages that Spark hands to Python."""

from __future__ import annotations

import os
import sys

OWN_MACHINE = ("local", "spark://127.0.0.1:")


def on_this_machine(master: str) -> bool:
    """Whether all of Spark runs here, from the installed PySpark."""
    return master.startswith(OWN_MACHINE)


def use_this_python(master: str) -> None:
    """Python workers of this machine run with this interpreter, where streamgauge is installed.

    Call it before Spark starts.
    """
    if on_this_machine(master):
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
