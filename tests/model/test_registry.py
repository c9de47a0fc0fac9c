"""Values found by walking a package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from streamgauge.model.registry import discover

MakePackage = Callable[[dict[str, str]], ModuleType]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakePackage]:
    """Makes a package of the given modules, forgotten after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(modules: dict[str, str]) -> ModuleType:
        folder = tmp_path / "shelf_of_things"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for name, body in modules.items():
            (folder / f"{name}.py").write_text(body)
        importlib.invalidate_caches()
        return importlib.import_module("shelf_of_things")

    yield make
    for name in [n for n in sys.modules if n.partition(".")[0] == "shelf_of_things"]:
        del sys.modules[name]


def thing(name: str) -> str:
    return f"from types import SimpleNamespace\nTHING = SimpleNamespace(name={name!r})\n"


def test_every_module_is_visited_in_order_and_those_without_the_value_are_passed(package: MakePackage) -> None:
    found = discover(package({"zebra": thing("first"), "apple": thing("second"), "plain": "OTHER = 1\n"}), "THING")
    assert list(found) == ["second", "first"]
    assert found["first"].name == "first"


def test_an_empty_package_holds_nothing(package: MakePackage) -> None:
    assert discover(package({}), "THING") == {}


def test_a_duplicate_name_fails_loudly_with_both_places(package: MakePackage) -> None:
    shelf = package({"one": thing("same"), "two": thing("same")})
    with pytest.raises(
        RuntimeError, match=r"^'same' is defined twice: in shelf_of_things\.one and shelf_of_things\.two$"
    ):
        discover(shelf, "THING")


def test_a_module_that_cannot_be_imported_is_not_passed_over(package: MakePackage) -> None:
    with pytest.raises(ZeroDivisionError):
        discover(package({"broken": "1 / 0\n"}), "THING")
