"""The spelling of faults: `kill executor at 30s`, `suspend 2 workers every 20s up to 3 after 15s for 5s`."""

from __future__ import annotations

import re

from streamgauge.faults import fault_verbs
from streamgauge.load.spelling import duration_text, positive_duration_s
from streamgauge.model.errors import UserError, unknown
from streamgauge.model.fault import RANDOM, TARGETS, Fault, Half
from streamgauge.model.units import parse_duration_s

_WHO = "[N] [busiest] TARGET"
SPELLING = f"VERB {_WHO} at TIME|half [for TIME], or VERB {_WHO} every TIME [up to N] [after TIME] [for TIME]"
RANDOM_SPELLING = "random fault at TIME|half, or random fault every TIME [up to N] [after TIME]"
_WAY_OUT = "Write it like 'kill executor at 30s' or 'suspend worker every 20s up to 3 after 15s for 10s'"
BROUGHT_BACK = {"driver": "the supervisor", "executor": "its worker"}
"""Who starts a process again that is gone, where the injector does not."""
BUSIEST = "busiest"
SHARE_WORK = ("executor", "worker")
"""Targets of which some may have nothing to do while others work."""
_CLAUSE = re.compile(r"\b(at|every|up to|after|for)\s+(\S+)")


def parse_fault(text: str) -> Fault:
    """The fault that a spelling means, or a UserError that names what is wrong in it."""
    try:
        fault = _parsed(" ".join(text.split()))
        _check(fault)
        return fault
    except UserError as error:
        raise UserError(f"fault '{text}': {error.cause}", error.way_out or _WAY_OUT) from None


def spelled(fault: Fault) -> str:
    """The one spelling of a fault: it parses back to the same value."""
    what = f"{BUSIEST} {fault.target}" if fault.busiest else fault.target
    parts = [fault.verb, what if fault.count == 1 else f"{fault.count} {what}s"]
    if fault.at is not None:
        parts.append(f"at {fault.at if isinstance(fault.at, str) else duration_text(fault.at)}")
    if fault.every_s is not None:
        parts.append(f"every {duration_text(fault.every_s)}")
    if fault.up_to is not None:
        parts.append(f"up to {fault.up_to}")
    if fault.after_s is not None:
        parts.append(f"after {duration_text(fault.after_s)}")
    if fault.for_s is not None:
        parts.append(f"for {duration_text(fault.for_s)}")
    return " ".join(parts)


def _parsed(text: str) -> Fault:
    first = _CLAUSE.search(text)
    head = (text[: first.start()] if first else text).split()
    given = _clauses(text[first.start() :] if first else "")
    busiest = BUSIEST in head[1:]
    verb, count, target = _head([word for place, word in enumerate(head) if place == 0 or word != BUSIEST])
    return Fault(
        verb=verb,
        target=target,
        count=count,
        at=_at(given["at"]) if "at" in given else None,
        every_s=_duration("every", given),
        up_to=_whole(given["up to"]) if "up to" in given else None,
        after_s=_duration("after", given),
        for_s=_duration("for", given),
        busiest=busiest,
    )


def _head(words: list[str]) -> tuple[str, int, str]:
    verbs = [*fault_verbs(), RANDOM]
    if not words:
        raise UserError("it names no verb")
    if words[0] not in verbs:
        raise unknown("verb of a fault", words[0], verbs)
    if words[0] == RANDOM:
        if words[1:] != ["fault"]:
            raise UserError("verb and target of a random fault are drawn", f"Write it as {RANDOM_SPELLING}")
        return RANDOM, 1, "fault"
    if len(words) < 2:
        raise UserError("it names no target", f"Name one: {', '.join(TARGETS)}")
    count = _whole(words[1]) if words[1][0].isdigit() else 1
    rest = words[2:] if words[1][0].isdigit() else words[1:]
    if len(rest) != 1:
        raise UserError(f"'{' '.join(rest)}' is not one target")
    name = rest[0].removesuffix("s") if rest[0].removesuffix("s") in TARGETS else rest[0]
    if name not in TARGETS:
        raise unknown("target of a fault", name, list(TARGETS))
    return words[0], count, name


def _clauses(text: str) -> dict[str, str]:
    """Clause → what it says; each once, and nothing between them."""
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _CLAUSE.match(text, position)
        if match is None:
            raise UserError(f"'{text[position:]}' says nothing of a time")
        if match[1] in found:
            raise UserError(f"'{match[1]}' stands in it twice")
        found[match[1]] = match[2]
        position = match.end() + 1
    return found


def _at(text: str) -> float | Half:
    return "half" if text == "half" else parse_duration_s(text)


def _duration(name: str, given: dict[str, str]) -> float | None:
    if name not in given:
        return None
    return parse_duration_s(given[name]) if name == "after" else positive_duration_s(given[name])


def _whole(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise UserError(f"'{text}' is not a whole number above 0")
    return int(text)


def _check(fault: Fault) -> None:
    if (fault.at is None) == (fault.every_s is None):
        raise UserError("it says no time" if fault.at is None else "'at' and 'every' contradict each other")
    if fault.every_s is None and (fault.up_to is not None or fault.after_s is not None):
        raise UserError("'up to' and 'after' belong to 'every'")
    if fault.verb == RANDOM:
        if fault.for_s is not None:
            raise UserError("how long a random fault lasts is drawn", f"Write it as {RANDOM_SPELLING}")
        return
    verb = fault_verbs()[fault.verb]
    if fault.target not in verb.targets:
        raise UserError(
            f"an {fault.target} is not started by this run, but by its worker", "Use kill: its worker starts another"
        )
    if fault.busiest and (fault.target not in SHARE_WORK or verb.of_stopped):
        what = f"{fault.target}s that stand still" if verb.of_stopped else f"a {fault.target}"
        raise UserError(
            f"of {what} none is the busiest", f"Leave '{BUSIEST}' out: it is of executors and workers at work"
        )
    if fault.for_s is not None and verb.bring_back is None:
        raise UserError(f"'{verb.name}' has no duration", "Leave 'for' out")
    if fault.for_s is not None and verb.effect == "gone" and fault.target in BROUGHT_BACK:
        raise UserError(f"a {fault.target} is brought back by {BROUGHT_BACK[fault.target]}", "Leave 'for' out")
