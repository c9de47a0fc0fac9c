"""The pages in a real browser: at desk and phone width, light and dark, by mouse and by keyboard."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamgauge.dashboard.guard import Control
from streamgauge.dashboard.serving import bind, server
from streamgauge.store import Notes, read_notes, write_notes
from tests.chromium import IN_A_BROWSER, LOOKS, TOUCHING, keep
from tests.report.compared_runs import Stored, repeats
from tests.report.sample_run import record, store_sample, tables

pytestmark = IN_A_BROWSER
MARKUP = "<img src=x onerror=alert(1)>"


@dataclass(frozen=True)
class Served:
    """A server over a store of its own."""

    root: Path
    address: str
    token: str
    runs: tuple[Path, ...]

    def with_token(self, path: str = "") -> str:
        """An address that brings the token along."""
        return f"{self.address}{path}#token={self.token}"


def with_tables(stored: list[Stored], engine: str) -> list[Stored]:
    """The same repeats, each with tables to draw."""
    return [(made, tables(engine, seed)) for seed, (made, _) in enumerate(stored, 1)]


def some_runs(root: Path) -> tuple[Path, ...]:
    """A run with everything that can happen, two to compare, and one that is damaged."""
    whole = store_sample(root)
    base = store_sample(root, with_tables(repeats(n=3), "spark-microbatch"))
    slow = store_sample(root, with_tables(repeats(n=3, factor=1.6, seed=2), "spark-microbatch"))
    write_notes(slow, Notes(("nightly",), f"since the update {MARKUP}"))
    broken = store_sample(root, [])
    (broken / "run.json").write_text("{")
    return whole, base, slow, broken


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server in a thread of this process, over some runs."""
    runs = some_runs(tmp_path)
    bound = bind("127.0.0.1", 0)
    control = Control.at("127.0.0.1", bound.port)
    running = server(bound, tmp_path, control)
    thread = threading.Thread(target=lambda: running.run(sockets=[bound.socket]))
    thread.start()
    try:
        yield Served(tmp_path, bound.address, control.token, runs)
    finally:
        running.should_exit = True
        thread.join(20)
        bound.socket.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """A function that opens an address; at the end no page may have complained."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_page(address: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"alert: {dialog.message}"))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    # A refusal that a test asks for is told on the console by the browser itself.
    assert [each for each in complaints if "403" not in each and "409" not in each] == []


def fits(page: Any, width: int) -> bool:
    """Whether the page is no wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth")) <= width


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_page_is_drawn_without_complaint_or_overflow(
    served: Served, opened: Any, width: int, scheme: str
) -> None:
    whole, base, slow, broken = (run.name for run in served.runs)
    page = opened(served.with_token(), width, scheme)
    assert page.locator("#runs tbody tr").count() == 4
    assert "cannot be read" in page.locator(f'tr[data-run="{broken}"]').inner_text()
    assert MARKUP in page.locator(f'tr[data-run="{slow}"]').inner_text()
    assert fits(page, width)
    keep(page, f"runs-{width}-{scheme}")

    page.goto(f"{served.address}runs/{whole}")
    page.wait_for_selector("#quantiles tbody tr")
    page.wait_for_selector("body[data-drawn]")
    assert page.locator("#overlay svg.main-svg .scatterlayer .trace").count() >= 4
    assert fits(page, width) and page.evaluate(TOUCHING) == []
    keep(page, f"run-{width}-{scheme}")

    page.goto(f"{served.address}compare?with={base}&with={slow}")
    page.wait_for_selector("body[data-drawn]")
    assert "slower in p50" in page.locator(".answer").first.inner_text()
    assert page.locator("[data-figure] svg.main-svg .trace").count() > 4
    assert fits(page, width) and page.evaluate(TOUCHING) == []
    keep(page, f"compare-{width}-{scheme}")


def test_an_empty_store_tells_a_newcomer_what_to_run(served: Served, opened: Any) -> None:
    for run in served.runs:
        shutil.rmtree(run)
    page = opened(served.with_token())
    assert "streamgauge run wordcount" in page.locator("pre").inner_text()


def test_runs_are_filtered_and_sorted_by_keyboard(served: Served, opened: Any) -> None:
    page = opened(served.with_token())
    page.locator("#filter").press_sequentially("nightly")
    assert page.locator("#runs tbody tr:visible").count() == 1
    assert page.locator("#shown").inner_text() == "1 of 4 runs"
    page.locator("#filter").fill("no such run")
    assert page.locator("#nothing").is_visible()
    page.locator("#filter").fill("")
    heading = page.locator('.sort[data-key="trials"]')
    heading.focus()
    page.keyboard.press("Enter")
    assert page.locator("th", has=heading).get_attribute("aria-sort") == "ascending"
    shown = page.locator("#runs tbody tr").evaluate_all("rows => rows.map(row => Number(row.dataset.trials))")
    assert shown == sorted(shown)
    page.keyboard.press("Enter")
    shown = page.locator("#runs tbody tr").evaluate_all("rows => rows.map(row => Number(row.dataset.trials))")
    assert shown == sorted(shown, reverse=True)


def test_a_note_is_written_and_a_run_deleted_after_a_confirmation(served: Served, opened: Any) -> None:
    run = served.runs[1]
    page = opened(served.with_token())
    assert "token" not in page.url
    row = page.locator(f'tr[data-run="{run.name}"]')
    row.get_by_role("button", name="Tags and note").click()
    page.locator('#notes input[name="tags"]').fill("one, <i>two</i>")
    page.locator("#notes textarea").fill(MARKUP)
    page.locator('#notes button[value="save"]').click()
    row.locator(".tag").nth(1).wait_for()
    assert read_notes(run) == Notes(("one", "<i>two</i>"), MARKUP)
    assert row.locator(".note").inner_text() == MARKUP
    row.get_by_role("button", name="Delete").click()
    page.keyboard.press("Enter")
    assert run.exists(), "what has the focus at first keeps the run"
    row.get_by_role("button", name="Delete").click()
    page.locator('#delete button[value="delete"]').click()
    row.wait_for(state="detached")
    assert not run.exists()


def test_without_the_token_it_is_asked_for(served: Served, opened: Any) -> None:
    run = served.runs[0]
    page = opened(served.address)
    page.locator(f'tr[data-run="{run.name}"]').get_by_role("button", name="Tags and note").click()
    page.locator("#notes textarea").fill("mine")
    page.locator('#notes button[value="save"]').click()
    page.locator("#token input").fill(served.token)
    page.locator('#token button[value="use"]').click()
    page.locator("#said", has_text="saved").wait_for()
    assert read_notes(run).note == "mine"


def test_a_trial_is_laid_over_and_a_span_brushed(served: Served, opened: Any) -> None:
    page = opened(f"{served.address}runs/{served.runs[0].name}")
    page.wait_for_selector("#quantiles tbody tr:nth-child(2)")
    assert page.locator("#quantiles tbody tr").first.locator("td").nth(1).inner_text() == "12,500"
    page.locator("#pick-2").focus()
    page.keyboard.press("Space")
    page.wait_for_selector("#quantiles tbody tr:nth-child(3)")
    drag = page.locator("#overlay .js-plotly-plot").first.locator(".nsewdrag").first
    drag.scroll_into_view_if_needed()
    box = drag.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    page.locator("#span-said", has_text="From").wait_for()
    low, high = (float(page.locator(f'#span input[name="{name}"]').input_value()) for name in ("from", "to"))
    assert 5 < low < 7
    assert 11 < high < 13
    counted = int(page.locator("#quantiles tbody tr").first.locator("td").nth(1).inner_text().replace(",", ""))
    assert 0 < counted < 12_500
    shade = page.locator("#overlay .js-plotly-plot").first.locator(".shapelayer path").last.bounding_box()
    assert abs(shade["width"] - box["width"] * 0.25) < 5
    assert abs(shade["height"] - box["height"]) < 5
    keep(page, "brushed")
    page.locator('#span button[type="reset"]').click()
    page.locator("#span-said", has_text="The whole trial").wait_for()


def test_charts_tables_and_the_report_are_downloaded(served: Served, opened: Any, tmp_path: Path) -> None:
    page = opened(f"{served.address}runs/{served.runs[0].name}")
    page.wait_for_selector("#quantiles tbody tr")
    page.wait_for_selector("body[data-drawn]")
    with page.expect_download() as got:
        page.locator("#overlay .picture").first.click()
    assert Path(got.value.path()).read_bytes().startswith(b"\x89PNG")
    assert got.value.suggested_filename.endswith("Latency-over-time.png")
    with page.expect_download() as got:
        page.get_by_role("link", name="report (HTML)").click()
    assert "Latency by percentile" in Path(got.value.path()).read_text()
    with page.expect_download() as got:
        page.get_by_role("link", name="figures (CSV)").click()
    assert len(Path(got.value.path()).read_text().splitlines()) == 17


def test_runs_are_chosen_on_the_list_and_compared(served: Served, opened: Any) -> None:
    page = opened(served.with_token())
    for run in served.runs[1:3]:
        page.locator(f'input[value="{run.name}"]').check()
    page.get_by_role("button", name="Compare chosen").click()
    page.wait_for_selector("body[data-drawn]")
    assert "Differences" in page.locator("#pairs").inner_text()
    assert page.locator("#choose input:checked").count() == 2
    ticks = page.locator("figure", has_text="Latency by percentile").locator(".xtick").all_text_contents()
    assert "99.99 %" in [tick.strip() for tick in ticks]


def test_a_name_with_markup_is_text_on_every_page(served: Served, opened: Any) -> None:
    run = store_sample(served.root, [(record(MARKUP, "spark-realtime"), tables("spark-realtime", 1))])
    page = opened(served.with_token())
    assert MARKUP in page.locator(f'tr[data-run="{run.name}"]').inner_text()
    page.goto(f"{served.address}runs/{run.name}")
    page.wait_for_selector("#quantiles tbody tr")
    assert page.locator("img").count() == 0
    page.goto(f"{served.address}compare?with={run.name}:1&with={run.name}")
    assert page.locator("img").count() == 0
