"""Limits on changes: spelling and outcomes."""

import pytest

from streamgauge.measure.change_limits import check_change, parse_change_limit
from streamgauge.measure.comparison import Change, Repeats, compare
from streamgauge.measure.figures import get_figure
from streamgauge.model import UserError


def latencies(*values: float) -> Repeats:
    return Repeats(tuple({"latency_ms": {"p99": value}} for value in values))


def p99(before: tuple[float, ...], after: tuple[float, ...]) -> Change:
    return compare(get_figure("p99"), latencies(*before), latencies(*after))


@pytest.mark.parametrize(
    ("text", "figure", "percent"),
    [("p99:+10%", "p99", 10), ("p99:10%", "p99", 10), (" cpu : +2.5 % ", "cpu", 2.5), ("mb_per_s:-5%", "mb_per_s", 5)],
)
def test_spellings(text, figure, percent) -> None:
    found = parse_change_limit(text)
    assert (found.figure.name, found.percent) == (figure, percent)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99", "is not a limit on a change. Write it like p99:+10%"),
        ("p99:+10", "is not a limit on a change"),
        ("p98:+10%", "Did you mean 'p9"),
        ("p99:-10%", "less is better for p99, so this would be a limit on a gain. Write p99:+10%"),
        ("events_per_s:+5%", "Write events_per_s:-5%"),
        ("lost:+1%", "--threshold 'lost==0'"),
    ],
)
def test_mistakes_are_one_line_with_a_way_out(text, said) -> None:
    with pytest.raises(UserError) as caught:
        parse_change_limit(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("limit", "before", "after", "ok"),
    [
        ("p99:+10%", (100, 101, 102), (120, 121, 122), False),
        ("p99:+30%", (100, 101, 102), (120, 121, 122), True),
        ("p99:+10%", (100, 200, 150), (120, 250, 260), True),
        ("p99:+10%", (120, 121, 122), (100, 101, 102), True),
        ("p99:+0%", (100, 101, 102), (120, 121, 122), False),
    ],
)
def test_a_limit_is_broken_only_by_what_is_worse_by_more_and_shown(limit, before, after, ok) -> None:
    found = check_change(parse_change_limit(limit), p99(before, after))
    assert found.ok is ok
    assert found.text.startswith(f"{'✓' if ok else '✗'} {limit}: ")


def test_a_lower_rate_breaks_the_limit_on_a_rate() -> None:
    rates = [Repeats(tuple({"throughput": {"events_per_s": v}} for v in values)) for values in ((100, 101), (80, 80.5))]
    found = check_change(parse_change_limit("events_per_s:-10%"), compare(get_figure("events_per_s"), *rates))
    assert found.text == "✗ events_per_s:-10%: -20.1 %, slower"


def test_a_figure_that_is_missing_breaks_the_limit() -> None:
    found = check_change(parse_change_limit("p99:+10%"), p99((100, 101), ()))
    assert (found.ok, found.text) == (False, "✗ p99:+10%: no trial")
