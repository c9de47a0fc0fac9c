"""The graph of an application: what it refuses, in which words, and what it gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streamgauge.model import (
    Application,
    Emits,
    Expected,
    Field,
    FieldType,
    Output,
    Parameter,
    PerEvent,
    Stage,
    Stream,
    Text,
    UserError,
    stage,
    wanted,
)


def no_events(seed: int) -> Any:
    """A stream that is only named here."""
    raise NotImplementedError


LINES = Stream("lines", "Lines of text", (Field("line", FieldType.STRING),), Text("line"), no_events)
CLICKS = replace(LINES, name="clicks")


def oracle(events: Any) -> Expected:
    return Expected(rows=events)


def output(name: str, its_oracle: Any = oracle) -> Output:
    return Output(name, its_oracle, PerEvent(("line",)))


@stage
def clean(lines: Any) -> Any:
    return [line.strip() for line in lines]


@stage(uses=("aggregate",), emits=Emits.UPDATES, key=("line",))
def shout(clean: Any, *, mark: str) -> Any:
    return [line.upper() + mark for line in clean]


@shout.variant("twice", uses=("python-state",))
def _shout_twice(clean: Any, *, mark: str) -> Any:
    return [line.upper() + 2 * mark for line in clean]


@stage
def join(shout: Any, clicks: Any) -> Any:
    return [*shout, *clicks]


@stage
def measure(clean: Any) -> Any:
    return [len(line) for line in clean]


def make(**changes: Any) -> Application:
    """A sound application of four stages and two leaves, with something changed."""
    sound: dict[str, Any] = {
        "name": "echo",
        "question": "What comes back?",
        "inputs": {"lines": LINES, "clicks": CLICKS},
        "stages": (clean, shout, join, measure),
        "outputs": (output("join"), output("measure"), output("shout")),
        "parameters": {"mark": Parameter("!", "what is put at the end")},
        "cuts": ("clean", "shout"),
    }
    return Application(**(sound | changes))


def refusal(**changes: Any) -> str:
    with pytest.raises(UserError) as caught:
        make(**changes)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_sound_graph() -> None:
    echo = make()
    assert echo.leaves() == ("join", "measure")
    assert [o.stage for o in echo.leaf_outputs()] == ["join", "measure"]
    assert echo.stage("shout") is shout


def test_two_things_of_one_name() -> None:
    assert refusal(stages=(clean, clean, shout, join, measure)) == (
        "application 'echo': two things are called 'clean'. Rename the stage or the input"
    )
    assert refusal(inputs={"lines": LINES, "clicks": CLICKS, "shout": LINES}) == (
        "application 'echo': two things are called 'shout'. Rename the stage or the input"
    )


def test_a_stage_that_reads_what_is_not_there() -> None:
    assert refusal(inputs={"lines": LINES}) == (
        "application 'echo': stage 'join' reads 'clicks', which is no input, no table and no earlier stage. "
        "Name its parameters after one of: clean, lines, shout"
    )
    assert refusal(inputs={}, stages=(clean,)) == (
        "application 'echo': stage 'clean' reads 'lines', which is no input, no table and no earlier stage. "
        "Name its parameters after one of: none"
    )


def test_a_stage_cannot_read_a_later_one() -> None:
    assert "stage 'shout' reads 'clean', which is no input, no table and no earlier stage" in refusal(
        stages=(shout, clean, join, measure)
    )


def test_a_stage_that_asks_for_an_undeclared_parameter() -> None:
    assert refusal(parameters={}) == (
        "application 'echo': stage 'shout' asks for parameter 'mark', which is not declared. "
        "Add it to Application(parameters=…)"
    )


def test_an_output_that_is_no_stage() -> None:
    assert refusal(outputs=(output("nothing"),)) == (
        "application 'echo': output 'nothing' is not a stage. Stages: clean, join, measure, shout"
    )


def test_an_oracle_that_asks_for_an_undeclared_parameter() -> None:
    def curious(events: Any, *, depth: int) -> Expected:
        return Expected(rows=events)

    assert refusal(outputs=(output("join", curious), output("measure"))) == (
        "application 'echo': the oracle of 'join' asks for undeclared parameter 'depth'"
    )


def test_a_leaf_without_an_oracle() -> None:
    assert refusal(outputs=(output("join"),)) == (
        "application 'echo': leaf stage 'measure' has no output. "
        "Every leaf needs an Output with an oracle: there is no figure without a verdict"
    )


def test_no_stages_at_all() -> None:
    assert refusal(stages=(), outputs=(), cuts=()).startswith("application 'echo' has no stages. ")


@pytest.mark.parametrize("cut", ["measure", "lines", "nothing"])
def test_a_cut_that_no_query_follows(cut: str) -> None:
    assert refusal(cuts=(cut,)) == (
        f"application 'echo': cannot cut after '{cut}'. A cut follows a stage that another stage reads"
    )


def test_an_unknown_stage_is_met_with_the_nearest() -> None:
    with pytest.raises(UserError) as caught:
        make().stage("measures")
    assert str(caught.value) == (
        "unknown stage of 'echo' 'measures'. Did you mean 'measure'? Known: clean, join, measure, shout"
    )


def test_stopped_after_keeps_only_what_leads_there() -> None:
    stopped = make().stopped_after("shout")
    assert [s.name for s in stopped.stages] == ["clean", "shout"]
    assert list(stopped.inputs) == ["lines"]
    assert [o.stage for o in stopped.outputs] == ["shout"]
    assert stopped.cuts == ("clean",)
    assert stopped.leaves() == ("shout",)
    assert stopped.bind({}) == {"mark": "!"}


def test_stopped_after_a_leaf_drops_the_other_branch() -> None:
    stopped = make().stopped_after("measure")
    assert [s.name for s in stopped.stages] == ["clean", "measure"]
    assert stopped.cuts == ("clean",)


def test_stopped_after_the_last_of_all_keeps_every_ancestor() -> None:
    stopped = make().stopped_after("join")
    assert [s.name for s in stopped.stages] == ["clean", "shout", "join"]
    assert list(stopped.inputs) == ["lines", "clicks"]
    assert stopped.cuts == ("clean", "shout")


def test_stopping_needs_an_oracle_there() -> None:
    with pytest.raises(UserError) as caught:
        make().stopped_after("clean")
    assert str(caught.value) == (
        "'echo' has no oracle for stage 'clean', so it cannot stop there. It can stop after: join, measure, shout"
    )
    with pytest.raises(UserError, match="unknown stage of 'echo' 'nowhere'"):
        make().stopped_after("nowhere")


PARAMETERS = {
    "text": Parameter("a", "a text"),
    "whole": Parameter(3, "a whole number"),
    "share": Parameter(0.5, "a share"),
    "strict": Parameter(False, "whether"),
    "mark": Parameter("!", "what is put at the end"),
}


def test_bind_parses_over_the_defaults() -> None:
    echo = make(parameters=PARAMETERS)
    assert echo.bind({}) == {"text": "a", "whole": 3, "share": 0.5, "strict": False, "mark": "!"}
    bound = echo.bind({"text": "7", "whole": "7", "share": "7", "strict": "TRUE"})
    assert bound == {"text": "7", "whole": 7, "share": 7.0, "strict": True, "mark": "!"}
    assert [type(bound[name]) for name in ("text", "whole", "share", "strict")] == [str, int, float, bool]
    assert echo.bind({"strict": "false"})["strict"] is False


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("whole", "3.5", "parameter 'whole' takes int, not '3.5'. Its default is 3"),
        ("share", "half", "parameter 'share' takes float, not 'half'. Its default is 0.5"),
        ("strict", "1", "parameter 'strict' takes true or false, not '1'"),
        (
            "marks",
            "x",
            "unknown parameter of 'echo' 'marks'. Did you mean 'mark'? Known: mark, share, strict, text, whole",
        ),
    ],
)
def test_bind_refuses(name: str, text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        make(parameters=PARAMETERS).bind({name: text})
    assert str(caught.value) == words


def test_a_stage_is_a_function_with_a_name() -> None:
    assert (shout.name, shout.reads, shout.parameters) == ("shout", ("clean",), ("mark",))
    assert (shout.uses, shout.emits, shout.key) == (frozenset({"aggregate"}), Emits.UPDATES, ("line",))
    assert (clean.uses, clean.emits, clean.key) == (frozenset(), Emits.ROWS, ())
    assert join.reads == ("shout", "clicks")
    assert shout(clean([" hey "]), mark="?") == ["HEY?"]


def test_a_variant_is_the_same_stage_with_another_body() -> None:
    twice: Stage = shout.using_variant("twice")
    assert (twice.name, twice.reads, twice.emits) == ("shout", ("clean",), Emits.UPDATES)
    assert twice(["hey"], mark="?") == ["HEY??"]
    with pytest.raises(UserError) as caught:
        shout.using_variant("thrice")
    assert str(caught.value) == "unknown variant of stage 'shout' 'thrice'. Did you mean 'twice'? Known: default, twice"


def test_a_function_gets_only_the_parameters_it_wants() -> None:
    assert wanted(shout.function, {"mark": "!", "depth": 3}) == {"mark": "!"}
    assert wanted(oracle, {"mark": "!"}) == {}
