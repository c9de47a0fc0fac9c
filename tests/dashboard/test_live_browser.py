"""The live page in a real browser: a run that a test lets grow, the form, and a real small trial from start to end."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.warming import COLD
from tests.chromium import IN_A_BROWSER, LOOKS, keep
from tests.dashboard.serving import Served
from tests.dashboard.test_live import GrowingRun

pytestmark = IN_A_BROWSER


@pytest.fixture
def page_over(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path)
    yield found
    found.close()


def opened(context: Any, address: str) -> tuple[Any, list[str]]:
    """The page, and what the browser complained about."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    return page, complaints


def until(page: Any, expression: str, limit_s: float = 20.0) -> None:
    """Return when the expression is true in the page; asked from outside, where the page's own policy has no say."""
    deadline = time.monotonic() + limit_s
    while not page.evaluate(expression):
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not come to pass: {expression}")
        page.wait_for_timeout(50)


COMMAND = "document.getElementById('command').textContent"
POINTS = "document.querySelector('[data-figure=live-chart-1]').data[0].x.length"


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_a_run_that_grows_moves_its_page(
    browser: Any, tmp_path: Path, page_over: Served, width: int, scheme: str
) -> None:
    run = GrowingRun(tmp_path)
    run.begin()
    run.live.say("band", trial=1, segment="count", paradigm="data stream", from_ms=0)
    for number in range(20):
        run.sample(backlog=number, done=number)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        page, complaints = opened(context, f"{page_over.address}runs/{run.writer.id}")
        until(page, f"{POINTS} >= 20")
        before = page.evaluate(POINTS)
        run.live.say("event", trial=1, kind="phase", text="measuring")
        now_ms = time.time_ns() // 1_000_000
        fault = {"fault": 0, "label": "kill driver", "planned_at_ms": now_ms, "planned_until_ms": None}
        run.live.say("fault", trial=1, **fault, at_ms=now_ms, until_ms=None, problem=None)
        run.live.say("band", trial=1, segment="count", paradigm="operation stream", from_ms=0)
        for _ in range(5):
            run.sample(backlog=4_321, in_per_s=12_345.0)
            time.sleep(0.1)
        until(page, f"{POINTS} >= {before + 5}")
        until(page, "document.querySelector('[data-tile=backlog]').textContent === '4,321'")
        assert page.locator("#log li").count() == 1 and "<b>wordcount</b>" in page.locator("#now").inner_text()
        shapes = "document.querySelector('[data-figure=live-chart-1]').layout.shapes.map((s) => s.name)"
        until(page, f"{shapes}.includes('fault') && {shapes}.includes('phase')")
        bands = "document.querySelector('.paradigm-chart').data.filter((t) => t.y.some((v) => v)).length"
        until(page, f"{bands} === 2")
        assert page.locator("#live-trials progress").nth(2).get_attribute("value") == "0.25"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        keep(page, f"live-{width}-{scheme}")
        assert complaints == []
        run.writer.finish("complete")
        run.live.close("complete")
        page.wait_for_selector("#live", state="detached")
    finally:
        context.close()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_form_shows_curve_command_and_mistakes_while_one_types(
    browser: Any, page_over: Served, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        page, complaints = opened(context, page_over.with_token.replace("/#", "/start#"))
        page.wait_for_selector("#curve .main-svg")
        page.fill("[name=load]", "bursts:100/s:5000:5s")
        until(page, "Math.max(...document.getElementById('curve').data[0].y) > 1000")
        until(page, f"{COMMAND}.includes('bursts:100/s:5000:5s')")
        page.click("#add")
        until(page, "document.getElementById('command').textContent.includes(\"--fault 'kill driver at 5s'\")")
        until(page, "document.getElementById('curve').layout.shapes.some((s) => s.name === 'fault')")
        assert page.is_enabled("#start")
        page.fill("#faults input", "kill driver at 99s")
        until(page, "document.querySelector('[data-problem=faults]').textContent.includes('99')")
        assert page.is_disabled("#start")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        keep(page, f"start-{width}-{scheme}")
        assert complaints == []
    finally:
        context.close()


WATCHING = """
setInterval(() => {
  const chart = document.querySelector('[data-figure=live-chart-1]');
  if (!chart || !chart.data) return;
  window.saw({
    points: chart.data[0].x.length,
    p50: document.querySelector('[data-tile=p50]').textContent,
    stop: document.getElementById('stop').checkVisibility(),
    text: document.querySelector('main').textContent,
  });
}, 100);
"""
"""Tells what the page shows, from within: on a crowded machine a look from outside may come after its end."""


# Not beside other tests: a browser that waits for a core draws all at once, when the trial is over.
@pytest.mark.long
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(420)
def test_a_real_trial_is_started_watched_and_becomes_the_done_page(
    browser: Any, tmp_path: Path, page_over: Served
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    seen: list[dict[str, Any]] = []
    context.expose_function("saw", lambda found: seen.append(found))
    context.add_init_script(WATCHING)
    try:
        page, complaints = opened(context, page_over.with_token.replace("/#", "/start#"))
        page.wait_for_selector("#curve .main-svg")
        page.fill("[name=for]", "25s")
        page.fill("[name=warmup]", "3s")
        page.evaluate("document.querySelector('details').open = true")
        page.fill("[name=settling]", "8s")
        page.fill("[name=load]", "constant:300/s")
        until(page, f"{COMMAND}.includes('constant:300/s --for 25s --warmup 3s --settling 8s')")
        until(page, "!document.getElementById('start').disabled")
        page.click("#start")
        page.wait_for_url("**/runs/*", timeout=60_000)
        page.wait_for_selector("#live #stop")
        keep(page, "live-real")
        page.wait_for_selector("#live", state="detached", timeout=300_000)
        page.wait_for_selector("[data-figure][data-drawn]")
        assert "wordcount" in page.locator("main").inner_text()
        assert complaints == []
    finally:
        context.close()
    assert len({each["points"] for each in seen}) > 5
    assert any(re.search(r"\d m?s$", each["p50"]) for each in seen)
    assert any(each["stop"] for each in seen)
    assert any(COLD in each["text"] for each in seen)
    (run,) = [each for each in tmp_path.iterdir() if (each / "run.json").exists()]
    assert not (run / "live.jsonl").exists() and (run / "report.html").exists()


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_a_real_trial_is_stopped_from_its_page_and_nothing_is_left(
    browser: Any, tmp_path: Path, page_over: Served
) -> None:
    import psutil

    context = browser.new_context()
    try:
        page, complaints = opened(context, page_over.with_token.replace("/#", "/start#"))
        page.wait_for_selector("#curve .main-svg")
        page.fill("[name=for]", "5min")
        until(page, f"{COMMAND}.includes('5min')")
        page.click("#start")
        page.wait_for_url("**/runs/*", timeout=60_000)
        until(page, f"{POINTS} > 3", 90)
        commands = [each for each in psutil.Process().children() if "run" in each.cmdline()]
        family = [each for command in commands for each in (command, *command.children(recursive=True))]
        assert len(family) > 3
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("#stop")
        page.wait_for_selector("#live", state="detached", timeout=90_000)
        _, alive = psutil.wait_procs(family, 30)
        assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []
        assert complaints == []
    finally:
        context.close()
