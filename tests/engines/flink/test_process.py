"""Flink's job process: it needs nothing but the standard library before PyFlink, and says what goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import streamgauge
from streamgauge.engines.flink.running import cause_in
from streamgauge.engines.flink.session import address_of

PROCESS = Path(streamgauge.__file__).parent / "engines" / "flink" / "process.py"
ALONE = f"""
import runpy, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top != "streamgauge":
            raise ImportError(f"{{name}} is not in the standard library")

sys.meta_path.insert(0, Refusing())
found = runpy.run_path({str(PROCESS)!r}, run_name="process")
found["take_in"](found["PACKAGE"])
import importlib
for name in ("job.__main__", "engines.flink.session", "engines.flink.running", "engines.flink.offsets", "model.job"):
    importlib.import_module(f"streamgauge.{{name}}")
from streamgauge.engines import get_engine
from streamgauge.engines.flink.program import all_programs
assert get_engine("flink").name == "flink" and all_programs()
assert not [name for name in sys.modules if name.startswith("streamgauge.engines.spark")]
print("alone")
"""


def test_the_process_imports_nothing_that_its_environment_lacks() -> None:
    done = subprocess.run([sys.executable, "-I", "-c", ALONE], capture_output=True, text=True)
    assert done.stdout == "alone\n", done.stderr


def test_the_innermost_cause_is_told_without_javas_classes() -> None:
    said = """An error occurred while calling o42.get.
: java.util.concurrent.ExecutionException: org.apache.flink.runtime.client.JobExecutionException: Job failed
\tat java.base/java.util.concurrent.CompletableFuture.reportGet(CompletableFuture.java:396)
Caused by: org.apache.flink.runtime.JobException: Recovery is suppressed
\t... 5 more
Caused by: java.io.IOException: no topic 'in'
\tat here
"""
    assert cause_in(said) == "no topic 'in'"
    assert cause_in("org.apache.flink.table.api.ValidationException: SQL validation failed\n\tat x") == (
        "SQL validation failed"
    )
    assert cause_in("") == "no reason given"


def test_an_address_is_a_cluster_and_all_else_a_mini_cluster() -> None:
    assert address_of("flink://here:8081") == ("here", 8081)
    assert address_of("flink://[::1]:8081") == ("::1", 8081)
    assert address_of("local[32]") is None
