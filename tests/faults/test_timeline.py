"""Faults become instants of time; what cannot happen is said before anything starts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.faults import fault_verbs
from streamgauge.faults.grammar import parse_fault
from streamgauge.faults.timeline import Scene, timeline
from streamgauge.model.errors import UserError
from streamgauge.model.fault import PlannedFault
from streamgauge.places import fault_targets

LOCAL = Scene(1, fault_targets("local[4]", own_broker=True), "local[4]", length_s=60)
CLUSTER = Scene(1, fault_targets("cluster:3", own_broker=True), "cluster:3", length_s=60)


def planned(*texts: str, scene: Scene = CLUSTER) -> tuple[PlannedFault, ...]:
    return timeline([parse_fault(text) for text in texts], scene)


def test_instants_are_in_order_and_say_when_they_end() -> None:
    found = planned("kill worker every 20s up to 3 after 15s", "suspend driver at half for 5s", "restart broker at 40s")
    assert [(each.verb, each.at_s, each.until_s) for each in found] == [
        ("kill", 15, None),
        ("suspend", 30, 35),
        ("kill", 35, None),
        ("restart", 40, 40),
        ("kill", 55, None),
    ]


def test_every_begins_after_one_interval_and_ends_with_the_trial() -> None:
    assert [each.at_s for each in planned("kill executor every 20s")] == [20, 40]
    assert [each.at_s for each in planned("kill executor every 20s after 0s")] == [0, 20, 40]


def test_the_choice_is_random_and_follows_the_seed() -> None:
    text = "kill executor every 1s"
    orders = [each.order for each in planned(text)]
    assert orders == [each.order for each in planned(text)]
    assert {frozenset(order) for order in orders} == {frozenset({1, 2, 3})}
    assert {order[0] for order in orders} == {1, 2, 3}
    assert orders != [each.order for each in planned(text, scene=replace(CLUSTER, seed=2))]


def test_several_at_once_are_several_entries_of_one_choice() -> None:
    first, second = planned("kill 2 workers at 10s")
    assert first == second


@pytest.mark.parametrize(
    ("text", "lasting"),
    [
        ("suspend worker at 5s for 9s", "transient"),
        ("suspend worker at 5s for 10s", "permanent"),
        ("suspend worker at 5s", "permanent"),
        ("kill worker at 5s", "permanent"),
        ("kill worker at 5s for 3s", "transient"),
        ("kill executor at 5s", "transient"),
        ("kill driver at 5s", "transient"),
        ("restart broker at 5s", "transient"),
    ],
)
def test_transient_is_what_is_back_before_the_failure_time_out(text: str, lasting: str) -> None:
    (found,) = planned(text, scene=replace(CLUSTER, failure_timeout_s=10))
    assert found.lasting == lasting


def test_a_driver_that_nobody_restarts_is_gone_for_good() -> None:
    assert planned("kill driver at 5s", scene=replace(LOCAL, restarts=False))[0].lasting == "permanent"


def test_a_suspension_lasts_until_it_is_continued() -> None:
    scene = replace(LOCAL, failure_timeout_s=10)
    assert planned("suspend broker at 5s", "continue broker at 12s", scene=scene)[0].lasting == "transient"
    assert planned("suspend broker at 5s", "continue broker at 20s", scene=scene)[0].lasting == "permanent"
    again = planned("suspend broker at 5s", "continue broker at 12s", "suspend broker at 13s for 1s", scene=scene)
    assert len(again) == 3


@pytest.mark.parametrize(
    ("texts", "scene", "said"),
    [
        (
            ["kill worker at 3s"],
            LOCAL,
            "there is no worker of this run at local[4]. There it can hit driver, publisher",
        ),
        (["kill 4 workers at 3s"], CLUSTER, "cluster:3 has 3 workers, not 4"),
        (["kill driver at 60s"], LOCAL, "1 min is not before the end of the trial, which is measured for 1 min"),
        (["kill driver every 5s after 70s"], LOCAL, "1 min 10 s is not before the end"),
        (
            ["suspend driver at 5s for 10s", "suspend driver at 9s for 1s"],
            LOCAL,
            "it overlaps with 'suspend driver at 5s",
        ),
        (["suspend driver every 5s for 6s"], LOCAL, "it overlaps with 'suspend driver every 5s for 6s'"),
        (["suspend 2 workers at 5s for 9s", "suspend 2 executors at 6s for 1s"], CLUSTER, "it overlaps with"),
        (["suspend broker at 5s", "suspend broker at 50s for 1s"], LOCAL, "it overlaps with 'suspend broker at 5s'"),
        (["kill worker every 10s"], replace(CLUSTER, targets={"worker": 2}), "no worker is left at 30 s"),
        (["kill broker at 3s", "restart broker at 9s"], LOCAL, "no broker is left at 9 s: 'kill broker at 3s'"),
        (["restart driver at 3s"], replace(LOCAL, restarts=False), "the supervisor may not restart it"),
        (["continue driver at 3s"], LOCAL, "no driver is suspended at 3 s"),
        (["suspend driver at 1s for 1s", "continue driver at 3s"], LOCAL, "no driver is suspended at 3 s"),
        (["kill driver at half"], replace(LOCAL, length_s=None), "half of a preloaded trial is not known before"),
        (["kill driver every 3s"], replace(LOCAL, length_s=None), "Say how often: 'up to N'"),
    ],
)
def test_what_cannot_happen_is_said(texts: list[str], scene: Scene, said: str) -> None:
    with pytest.raises(UserError) as raised:
        planned(*texts, scene=scene)
    assert said in str(raised.value)


def test_a_given_log_is_not_ours_to_break() -> None:
    scene = replace(LOCAL, targets=fault_targets("local", own_broker=False))
    with pytest.raises(UserError, match="there is no broker of this run"):
        planned("restart broker at 3s", scene=scene)


def test_an_unknown_length_is_no_end() -> None:
    assert planned("kill driver at 2h", scene=replace(LOCAL, length_s=None))[0].at_s == 7200


@given(st.integers(), st.sampled_from([LOCAL, CLUSTER]), st.sampled_from([1, 2, 7]))
@settings(max_examples=60)
def test_random_faults_are_possible_ones_and_follow_the_seed(seed: int, scene: Scene, every_s: int) -> None:
    scene = replace(scene, seed=seed)
    text = f"random fault every {every_s}s after 1s"
    found = planned(text, scene=scene)
    assert found == planned(text, scene=scene)
    assert found and {each.fault for each in found} == {text}
    for each in found:
        assert each.target in (fault_verbs()[each.verb].at_random or {})
        assert each.lasting == "transient"
    stops = [each for each in found if each.verb == "suspend"]
    for target in scene.targets:
        mine = [each for each in stops if each.target == target]
        for one in mine:
            together = [o for o in mine if o.at_s <= one.at_s < (o.until_s or 0)]
            assert len(together) <= scene.targets[target]


def test_random_faults_are_of_many_kinds() -> None:
    kinds = {
        (e.verb, e.target)
        for seed in range(20)
        for e in planned("random fault every 3s", scene=replace(CLUSTER, seed=seed))
    }
    assert {("kill", "driver"), ("kill", "worker"), ("suspend", "executor"), ("restart", "broker")} <= kinds
