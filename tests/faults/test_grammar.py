"""Faults are spelled in one way, and a mistake in one is a line that names it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.faults import fault_verbs
from streamgauge.faults.grammar import BROUGHT_BACK, SHARE_WORK, parse_fault, spelled
from streamgauge.model.errors import UserError
from streamgauge.model.fault import TARGETS, Fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("kill executor at 30s", Fault("kill", "executor", at=30)),
        ("suspend worker at 30s for 10s", Fault("suspend", "worker", at=30, for_s=10)),
        ("kill driver at half", Fault("kill", "driver", at="half")),
        ("kill worker every 20s up to 3 after 15s", Fault("kill", "worker", every_s=20, up_to=3, after_s=15)),
        ("restart broker at 40s", Fault("restart", "broker", at=40)),
        ("kill publisher at 500ms", Fault("kill", "publisher", at=0.5)),
        ("continue worker at 0s", Fault("continue", "worker", at=0)),
        ("  kill   3 workers at 2min for 1s ", Fault("kill", "worker", at=120, for_s=1, count=3)),
        ("kill busiest worker at half", Fault("kill", "worker", at="half", busiest=True)),
        ("suspend 2 busiest executors at 1s", Fault("suspend", "executor", at=1, count=2, busiest=True)),
        ("random fault every 5s", Fault("random", "fault", every_s=5)),
    ],
)
def test_a_spelling_means_a_fault_and_the_fault_its_one_spelling(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault
    assert parse_fault(spelled(fault)) == fault


VERBS = fault_verbs()
_SECONDS = st.integers(1, 10**7).map(lambda ms: ms / 1000)


@st.composite
def _faults(draw: st.DrawFn) -> Fault:
    verb = draw(st.sampled_from(sorted(VERBS)))
    target = draw(st.sampled_from(VERBS[verb].targets))
    gone = VERBS[verb].effect == "gone"
    lasts = VERBS[verb].bring_back is not None and not (gone and target in BROUGHT_BACK)
    for_s = draw(st.none() | _SECONDS) if lasts else None
    count = draw(st.integers(1, 9))
    busiest = target in SHARE_WORK and not VERBS[verb].of_stopped and draw(st.booleans())
    if draw(st.booleans()):
        return Fault(verb, target, at=draw(_SECONDS | st.just("half")), for_s=for_s, count=count, busiest=busiest)
    up_to, after_s = draw(st.none() | st.integers(1, 99)), draw(st.none() | _SECONDS)
    return Fault(verb, target, None, draw(_SECONDS), up_to, after_s, for_s, count, busiest)


@given(_faults())
def test_every_fault_is_read_back_from_its_spelling(fault: Fault) -> None:
    assert parse_fault(spelled(fault)) == fault


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kill busiest driver at 3s", "of a driver none is the busiest"),
        ("continue busiest worker at 3s", "of workers that stand still none is the busiest"),
        ("busiest kill worker at 3s", "unknown verb of a fault 'busiest'"),
        ("kil executor at 30s", "unknown verb of a fault 'kil'. Did you mean 'kill'?"),
        ("kill exekutor at 30s", "unknown target of a fault 'exekutor'. Did you mean 'executor'?"),
        ("kill executor", "it says no time"),
        ("kill executor at soon", "'soon' is not a duration"),
        ("kill executor at 3s every 2s", "'at' and 'every' contradict each other"),
        ("kill executor at 3s up to 2", "'up to' and 'after' belong to 'every'"),
        ("kill executor at 3s at 4s", "'at' stands in it twice"),
        ("kill executor at 3s please", "'please' says nothing of a time"),
        ("kill the executor at 3s", "'the executor' is not one target"),
        ("kill 0 workers at 3s", "'0' is not a whole number above 0"),
        ("suspend worker at 3s for 0s", "the duration '0s' is not above zero"),
        ("continue worker at 3s for 1s", "'continue' has no duration"),
        ("kill driver at 3s for 2s", "a driver is brought back by the supervisor"),
        ("restart executor at 3s", "is not started by this run, but by its worker"),
        ("random kill every 3s", "verb and target of a random fault are drawn"),
        ("at 3s", "it names no verb"),
        ("kill at 3s", "it names no target"),
    ],
)
def test_a_mistake_is_named(text: str, said: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_fault(text)
    assert f"fault '{text}': " in str(raised.value) and said in str(raised.value)


def test_verbs_are_found_by_walking_and_hit_known_targets() -> None:
    assert set(fault_verbs()) == {"kill", "suspend", "continue", "restart"}
    for verb in fault_verbs().values():
        assert set(verb.targets) <= set(TARGETS)
        assert set(verb.at_random or {}) <= set(verb.targets)
