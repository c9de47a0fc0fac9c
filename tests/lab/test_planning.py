"""From a request to trials, and the mistakes that are found before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.planning import plan
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run, exit_code
from streamgauge.lab.space import needed_bytes
from streamgauge.model import LogError, UserError
from streamgauge.model.trial import differences

REQUEST = RunRequest(applications=("wordcount", "grep"), engines=("spark-microbatch", "spark-realtime"), for_s=15)


def test_trials_are_the_product_engine_by_engine() -> None:
    trials = plan(replace(REQUEST, repeat=2))
    assert [(t.engine, t.application, t.repeat) for t in trials[:4]] == [
        ("spark-microbatch", "wordcount", 1),
        ("spark-microbatch", "wordcount", 2),
        ("spark-microbatch", "grep", 1),
        ("spark-microbatch", "grep", 2),
    ]
    assert len(trials) == 8


def test_a_paced_trial_counts_its_warm_up_apart() -> None:
    trial = plan(replace(REQUEST, warmup_s=4))[0]
    assert (trial.warmup_events, trial.events) == (2000, 2000 + 7500)


def test_the_skew_of_keys_is_kept_as_text_and_tells_trials_apart() -> None:
    request = replace(REQUEST, applications=("word-count",), engines=("spark-microbatch",))
    even, skewed, natural = (plan(replace(request, key_skew=skew))[0] for skew in ("0.0", "1.20", None))
    assert (even.key_skew, skewed.key_skew, natural.key_skew) == ("0", "1.2", None)
    assert differences([even, skewed, natural]) == ["key skew 0", "key skew 1.2", ""]
    with pytest.raises(UserError, match="the keys of stream 'aol-search' cannot be skewed"):
        plan(replace(REQUEST, key_skew="1"))


def test_a_number_of_events_is_a_number_of_measured_events() -> None:
    trial = plan(replace(REQUEST, for_s=None, events=1234, warmup_s=2))[0]
    assert trial.events - trial.warmup_events == 1234


def test_a_ramp_begins_after_the_warm_up() -> None:
    trial = plan(replace(REQUEST, load="ramp:100/s-300/s:10s", for_s=10, warmup_s=5))[0]
    assert (trial.warmup_events, trial.events) == (500, 500 + 2000)


def test_a_start_up_burst_and_a_preloaded_trial_have_no_warm_up_of_their_own() -> None:
    assert plan(replace(REQUEST, load="burst:1000/s:5s:100/s", for_s=10))[0].warmup_events == 0
    preloaded = plan(replace(REQUEST, load="preloaded", for_s=None, events=10))[0]
    assert (preloaded.events, preloaded.warmup_events) == (10, 0)


def test_a_parameter_goes_to_the_application_that_has_it() -> None:
    trials = plan(replace(REQUEST, parameters={"pattern": "news"}))
    assert {t.application: dict(t.parameters) for t in trials} == {"wordcount": {}, "grep": {"pattern": "news"}}


def test_a_setting_goes_to_the_engine_that_has_it() -> None:
    trials = plan(replace(REQUEST, settings={"trigger": "1s", "shuffle-partitions": "3"}))
    assert {t.engine: dict(t.settings) for t in trials} == {
        "spark-microbatch": {"trigger": "1s", "shuffle-partitions": "3"},
        "spark-realtime": {"shuffle-partitions": "3"},
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"applications": ()}, "no application"),
        ({"applications": ("wordcont",)}, "Did you mean 'wordcount'"),
        ({"engines": ("spark-microbach",)}, "Did you mean 'spark-microbatch'"),
        ({"load": "konstant:500/s"}, "Did you mean 'constant'"),
        ({"load": "constant:fast"}, "not a rate"),
        ({"parameters": {"patern": "x"}}, "Did you mean 'pattern'"),
        ({"settings": {"triger": "1s"}}, "Did you mean 'trigger'"),
        ({"events": 0, "for_s": None}, "--events must be more than 0"),
        ({"for_s": 0}, "--for must be more than 0"),
        ({"events": 5}, "contradict"),
        ({"repeat": 0}, "--repeat"),
        ({"partitions": 0}, "--partitions"),
        ({"place": "moon"}, "not a place"),
        ({"place": "local[2]"}, "needs 4 task slots"),
        (
            {"place": "cluster:2", "partitions": 20},
            "task slots and cluster:2 has 16 beside the 16 of the worker that is kept spare. Use --place cluster:3 or",
        ),
        ({"thresholds": ("p98<5ms",)}, "p9"),
        ({"data": {"": "missing.tsv"}}, "there is no file"),
        ({"data": {"serches": __file__}}, "Did you mean 'searches'"),
        ({"malformed": 1.0}, "--malformed is a share below 1"),
        ({"settings": {"variant.count": "loud"}}, "unknown variant of stage 'count' 'loud'"),
        ({"stop_after": "sort"}, "unknown stage"),
        ({"applications": ("nowhere.py",)}, "there is no file"),
        ({"load": "preloaded"}, "has no duration"),
        ({"keep": True}, "--keep needs --kafka"),
        ({"kafka_config": Path("missing.properties")}, "cannot read the Kafka configuration"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as caught:
        plan(replace(REQUEST, **change))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_space_that_is_asked_for_grows_with_the_largest_trial() -> None:
    small, large = (needed_bytes(plan(replace(REQUEST, load="preloaded", for_s=None, events=n))) for n in (1000, 10**8))
    assert large > small + 10**8 * 100


def record(**facts: Any) -> dict[str, Any]:
    return {"status": "done", "valid": True, "verdict": {"correct": True}, "thresholds": [], "error": None, **facts}


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([record()], 0),
        ([record(), record(status="gap", valid=False, verdict=None)], 0),
        ([record(thresholds=[{"ok": False}])], 99),
        ([record(valid=False), record(thresholds=[{"ok": False}])], 4),
        ([record(valid=False), record(status="failed", verdict=None, error={"exit_code": 5})], 5),
        ([record(status="failed", verdict=None, error={"exit_code": 2})], 2),
        ([record(verdict={"correct": False}), record(status="failed", verdict=None, error={"exit_code": 5})], 3),
    ],
)
def test_the_exit_code_tells_the_worst(records: list[dict[str, Any]], code: int) -> None:
    assert exit_code(records) == code


def test_partitions_come_from_the_command_or_the_kafka_configuration(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("partitions=3\n")
    assert plan(replace(REQUEST, kafka_config=file))[0].partitions == 3
    assert plan(replace(REQUEST, kafka_config=file, partitions=1))[0].partitions == 1
    assert plan(REQUEST)[0].partitions == 2


def test_a_users_file_is_planned_like_an_application(tmp_path: Path) -> None:
    own = Path(__file__).parents[1] / "applications" / "own_pipeline.py"
    trial = plan(replace(REQUEST, applications=(str(own),)))[0]
    assert (trial.application, trial.file) == ("orders-per-shop", str(own))


def test_a_relative_path_is_found_from_another_folder_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(__file__).parents[1] / "applications" / "own_pipeline.py"
    (tmp_path / "mine.py").write_text(own.read_text())
    monkeypatch.chdir(tmp_path)
    assert plan(replace(REQUEST, applications=("mine.py",)))[0].found_at == str(tmp_path / "mine.py")


class Silent:
    """A listener that must not hear of a trial."""

    def planned(self, run: str, trials: list[Any]) -> None:
        """Nothing to show."""

    def note(self, text: str) -> None:
        """Nothing to show."""


def test_a_run_that_could_not_begin_leaves_no_run(tmp_path: Path) -> None:
    request = replace(REQUEST, kafka="127.0.0.1:9", out=tmp_path / "runs")
    with pytest.raises(LogError, match=r"no Kafka answers at 127\.0\.0\.1:9"):
        conduct_run(request, Silent())  # type: ignore[arg-type]
    assert list((tmp_path / "runs").iterdir()) == []


def test_recorded_files_go_to_the_inputs_and_tables_that_they_name() -> None:
    here = str(Path(__file__))
    named = plan(replace(REQUEST, applications=("stored-join",), data={"sites": here, "": here}))[0]
    assert named.data == {"searches": here, "sites": here}
    with pytest.raises(UserError, match="--data counts=FILE or --data speeds=FILE"):
        plan(replace(REQUEST, applications=("traffic-flow",), data={"": here}))


def test_spoiled_events_become_dead_letters() -> None:
    assert not plan(REQUEST)[0].dead_letters
    assert plan(replace(REQUEST, malformed=0.01))[0].dead_letters
    assert plan(replace(REQUEST, dead_letters=True))[0].dead_letters
