"""The job process of Flink: `streamgauge.job` in the Python of Flink's environment, started by the path of this file.

Beside the package may lie those of another environment, whose versions clash with Flink's: nothing but streamgauge
itself is taken from there.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]


def take_in(package: Path) -> None:
    """Make a package importable without its neighbours."""
    spec = importlib.util.spec_from_file_location(
        package.name, package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[package.name] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    take_in(PACKAGE)
    runpy.run_module(f"{PACKAGE.name}.job", run_name="__main__", alter_sys=True)
