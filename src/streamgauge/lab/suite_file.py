"""Reads suites from TOML; whatever is wrong in one is a line that names the file, the key and the nearest right one."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from streamgauge.applications import all_applications
from streamgauge.lab.suite import SCALES, Matrix, Sizes, Suite
from streamgauge.lab.suite_figures import parse_figures
from streamgauge.lab.suite_keys import KEYS, TABLES
from streamgauge.load import parse_load
from streamgauge.model import UserError, unknown
from streamgauge.model.units import duration

FOLDER = Path(__file__).parents[1] / "suites"
ENDING = ".toml"
TOP = ("title", "about", "papers", "defaults", "matrix", "figure")
GROWING: tuple[Sizes, ...] = ("quick", "laptop", "paper")
"""Scales from the smallest sizes to the largest."""


def suite_names() -> list[str]:
    """The names of the suites that come with the program."""
    return sorted(path.stem for path in FOLDER.glob(f"*{ENDING}"))


def is_suite(name: str) -> bool:
    """Whether a user means a suite: one of ours by its name, or a TOML file."""
    return name.endswith(ENDING) or name in suite_names()


def get_suite(name: str) -> Suite:
    """The suite of that name, or the one in a user's own file."""
    if name.endswith(ENDING):
        return read_suite(Path(name))
    known = all_suites()
    if name not in known:
        raise unknown("suite", name, list(known))
    return known[name]


def all_suites() -> dict[str, Suite]:
    """Every suite that comes with the program; a name that an application has too is a mistake of the program."""
    both = set(suite_names()) & set(all_applications())
    if both:
        raise RuntimeError(f"'{sorted(both)[0]}' is defined twice: as an application and as a suite")
    return {name: read_suite(FOLDER / f"{name}{ENDING}") for name in suite_names()}


def read_suite(path: Path) -> Suite:
    """The suite in a file, with every value checked at every scale."""
    document = _document(path)
    shown = path.name if path.parent == FOLDER else str(path)
    _refuse_unknown(document, TOP, f"{shown}: ", "key")
    title, about = (_top_text(document, key, shown) for key in ("title", "about"))
    if not title:
        raise UserError(f"{shown}: it has no 'title'", "Say what the suite is in a few words")
    tables = document.get("matrix", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise UserError(f"{shown}: 'matrix' is not a list of tables", "Write each as [[matrix]]")
    if not tables:
        raise UserError(f"{shown}: it has no matrix, so it has no trial", "Add one: [[matrix]] with applications = […]")
    defaults = document.get("defaults", {})
    if not isinstance(defaults, dict):
        raise UserError(f"{shown}: 'defaults' is not a table", "Write it as [defaults]")
    _refuse_unknown(defaults, KEYS, f"{shown}: defaults: ", "key")
    common = _values(defaults, f"{shown}: defaults", path.parent)
    matrices = [_matrix(each, number, common, shown, path.parent) for number, each in enumerate(tables, 1)]
    names = [matrix.name for matrix in matrices]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{shown}: two matrices are called '{name}'", "Give each a name of its own")
    for scale in SCALES:
        if not any(scale in matrix.scales for matrix in matrices):
            raise UserError(f"{shown}: no matrix is part of the scale '{scale}', so it has no trial", "Add one to it")
    figures = parse_figures(document.get("figure", []), names, _used(matrices), shown)
    return Suite(path.stem, shown, title, about, _papers(document, shown), tuple(matrices), tuple(figures))


def _used(matrices: Iterable[Matrix]) -> dict[str, set[str]]:
    """The settings and parameters that any matrix names at any scale."""
    found: dict[str, set[str]] = {member: set() for member in TABLES}
    for matrix, scale in itertools.product(matrices, SCALES):
        values = matrix.at(scale)
        for member, names in found.items():
            for table in (*values.get(member, ()), *(case.get(member, {}) for case in values.get("cases", ()))):
                names.update(table)
    return found


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"there is no file {path}", "streamgauge list suites shows those that come with it") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}", "Correct it and run again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def _top_text(document: Mapping[str, Any], key: str, shown: str) -> str:
    value = document.get(key, "")
    if not isinstance(value, str):
        raise UserError(f"{shown}: key '{key}': {value!r} is not a text")
    return " ".join(value.split())


def _papers(document: Mapping[str, Any], shown: str) -> tuple[str, ...]:
    rows = document.get("papers", [])
    if not isinstance(rows, list) or not all(isinstance(row, str) and row for row in rows):
        raise UserError(f"{shown}: key 'papers': {rows!r} is not a list of rows", 'Write it like papers = ["SB4"]')
    return tuple(rows)


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], where: str, kind: str) -> None:
    for key in table:
        if key not in known:
            error = unknown(kind, key, list(known))
            raise UserError(f"{where}{error.cause}", error.way_out)


def _matrix(table: Mapping[str, Any], number: int, common: Mapping[str, Any], shown: str, folder: Path) -> Matrix:
    given = dict(table)
    name = given.pop("name", str(number))
    if not isinstance(name, str) or not name:
        raise UserError(f"{shown}: matrix {number}: key 'name': {name!r} is not a text")
    where = f"{shown}: matrix '{name}'"
    scales = _scales(given.pop("scales", list(SCALES)), f"{where}, key 'scales': ")
    _refuse_unknown(given, ["name", "scales", *KEYS], f"{where}: ", "key")
    values = {**common, **_values(given, where, folder)}
    named = [case for scale in SCALES for case in values.get("cases", {}).get(scale, ())]
    if "applications" not in values and not (named and all("applications" in case for case in named)):
        raise UserError(f"{where}: it names no application, so it has no trial", "Add applications = […]")
    matrix = Matrix(name, values, frozenset(given), scales)
    _check_axes(matrix, where)
    _check_sizes(matrix, where)
    return matrix


def _scales(value: Any, at: str) -> tuple[Sizes, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise UserError(f"{at}{value!r} is not a list of scales", 'Write it like scales = ["laptop", "paper"]')
    _refuse_unknown(dict.fromkeys(value), SCALES, at, "scale")
    return tuple(scale for scale in SCALES if scale in value)


def _values(table: Mapping[str, Any], where: str, folder: Path) -> dict[str, dict[Sizes, Any]]:
    return {key: _by_scale(key, value, where, folder) for key, value in table.items()}


def _by_scale(key: str, value: Any, where: str, folder: Path) -> dict[Sizes, Any]:
    """The value at every scale; without a quick one of its own the laptop's holds."""
    at = f"{where}, key '{key}'"
    if not isinstance(value, dict):
        parsed = _parsed(key, value, at, folder)
        return dict.fromkeys(SCALES, parsed)
    scales = set(SCALES)
    if key in TABLES and not set(value) & scales:
        raise UserError(f"{at}: it is one table, not a list of them", f"Write it like {key} = [{{ name = 'value' }}]")
    _refuse_unknown(value, SCALES, f"{at}: ", "scale")
    for scale in ("laptop", "paper"):
        if scale not in value:
            raise UserError(f"{at}: it says nothing for the scale '{scale}'", "Give laptop and paper, or one value")
    given = {"quick": value["laptop"], **value}
    return {scale: _parsed(key, given[scale], f"{at} at scale {scale}", folder) for scale in SCALES}


def _parsed(key: str, value: Any, at: str, folder: Path) -> Any:
    kind = KEYS[key]
    try:
        if not kind.several:
            return kind.parse(value, folder)
        entries = value if isinstance(value, list) else [value]
        if not entries and key != "thresholds":
            raise UserError("it is empty, so the matrix has no trial", "Give it an entry or leave it out")
        return tuple(kind.parse(each, folder) for each in entries)
    except UserError as error:
        raise UserError(f"{at}: {error.cause}", error.way_out) from None


def _check_axes(matrix: Matrix, where: str) -> None:
    """Refuse what says one thing twice: an axis that a case sets too, a time where no load takes one."""
    for scale in SCALES:
        values = matrix.at(scale)
        for axis in {axis for case in values.get("cases", ()) for axis in case} - set(TABLES):
            if axis in matrix.own:
                raise UserError(f"{where}: key '{axis}' and a case both set it", "Leave one of them out")
        loads = [*values.get("loads", ()), *(case["loads"] for case in values.get("cases", ()) if "loads" in case)]
        waiting = [parse_load(load).job_starts_at_s is None for load in loads]
        if "for" in matrix.own and waiting and all(waiting):
            raise UserError(f"{where}, key 'for': a preloaded load takes no time", "Give events, or another load")
        if {"events", "for"} <= matrix.own and not any(waiting):
            raise UserError(
                f"{where}: keys 'events' and 'for' contradict each other",
                "Give one of them; both belong only where a load is preloaded and another is not",
            )


def _check_sizes(matrix: Matrix, where: str) -> None:
    """Refuse a scale that is larger than the next: quick ≤ laptop ≤ paper."""
    for key, say in (("events", lambda n: f"{n:,}"), ("for", duration)):
        by_scale = matrix.values.get(key)
        if by_scale is None:
            continue
        for small, large in itertools.pairwise(GROWING):
            if max(by_scale[small]) > max(by_scale[large]):
                raise UserError(
                    f"{where}, key '{key}': contradictory scale, {small} has {say(max(by_scale[small]))} and {large} "
                    f"{say(max(by_scale[large]))}",
                    "Sizes grow from quick over laptop to paper",
                )
