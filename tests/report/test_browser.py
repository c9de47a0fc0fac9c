"""The page in a real browser: at desk and phone width, light and dark, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.suite import QUICK
from streamgauge.lab.suite_file import FOLDER, read_suite
from streamgauge.report import write_report
from streamgauge.store import StoredRun
from tests.chromium import IN_A_BROWSER, LOOKS, TOUCHING
from tests.report.sample_run import record, store_sample, tables
from tests.report.suite_run import store_suite

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def page_path(stored_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample run's page."""
    return write_report(StoredRun.open(stored_folder), tmp_path_factory.mktemp("page") / "report.html")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_page_is_drawn_without_error_or_overflow(browser: Any, page_path: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    try:
        page, complaints = opened(context, page_path)
        assert complaints == []
        assert page.locator('[data-title^="Share"]').count() == 0, "a chart is never sent anywhere"
        charts = page.locator("[data-figure]")
        assert charts.count() == 1 + 4 * 5
        assert page.locator("[data-figure] svg.main-svg .scatterlayer .trace").count() > 60
        for holder in charts.all():
            box = holder.bounding_box()
            assert box["height"] > 100
            assert box["x"] + box["width"] <= width
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        context.close()


@pytest.mark.parametrize(
    ("name", "width"),
    [("knobs", 1280), ("knobs", 390), ("ospbench-latency", 390), ("ospbench-startup-burst", 1280)],
)
def test_the_page_of_a_suite_is_drawn_and_its_trials_when_opened(
    browser: Any, tmp_path: Path, name: str, width: int
) -> None:
    path = write_report(StoredRun.open(store_suite(tmp_path, read_suite(FOLDER / f"{name}.toml"), QUICK)))
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    try:
        page, complaints = opened(context, path)
        drawn = page.locator("[data-drawn] > .plot-container").count()
        assert 0 < drawn < page.locator("[data-figure]").count(), "what is folded is not drawn yet"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        page.wait_for_function("document.querySelectorAll('[data-figure]:not([data-drawn])').length === 0")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TOUCHING) == []
        assert complaints == []
    finally:
        context.close()


def test_a_change_of_colour_scheme_is_followed(browser: Any, page_path: Path) -> None:
    context = browser.new_context(color_scheme="light", offline=True)
    try:
        page, complaints = opened(context, page_path)
        ink = "getComputedStyle(document.querySelector('[data-figure] .xtick text')).fill"
        before = page.evaluate(ink)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"{ink} !== {before!r}")
        assert complaints == []
    finally:
        context.close()


def test_markup_in_a_name_is_shown_as_text(browser: Any, tmp_path: Path) -> None:
    name = "<b>mine</b>&lt;"
    folder = store_sample(tmp_path, [(record(name, "spark-realtime"), tables("spark-realtime", 1))])
    context = browser.new_context(offline=True)
    try:
        page, complaints = opened(context, write_report(StoredRun.open(folder)))
        assert page.locator("td.title").first.inner_text() == name
        # The row label of the overview, drawn by Plotly.
        assert name in page.locator("[data-figure] .ytick").first.evaluate("e => e.textContent")
        assert complaints == []
    finally:
        context.close()


def opened(context: Any, path: Path) -> tuple[Any, list[str]]:
    """The page once all charts are drawn, and what the browser complained about."""
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-drawn]")
    return page, complaints
