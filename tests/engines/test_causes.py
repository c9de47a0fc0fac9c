"""Why a query ended, in one line."""

from __future__ import annotations

from streamgauge.engines.spark.running import first_line

PYTHON = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "worker.py", line 7, in main
    import numpy
ModuleNotFoundError: No module named 'numpy'

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)
"""


def test_what_a_stage_in_python_raised_is_told_and_not_that_it_raised() -> None:
    assert first_line(PYTHON) == "a stage's Python failed: ModuleNotFoundError: No module named 'numpy'"


def test_of_sparks_own_words_the_first_line_is_told() -> None:
    assert first_line("\n== Error ==\n[CAST_INVALID_INPUT] no number\nat org.apache.Spark") == (
        "[CAST_INVALID_INPUT] no number"
    )
    assert first_line(None) == "None"
