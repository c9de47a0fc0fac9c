"""card-model (BO9): how likely each state of a card follows each other one, learned from honest transactions.

The model is made before anything runs, by

    python -m streamgauge.streams.tables.card_model --seed 1000 --transactions 400000

which generates card-transactions of a seed that no trial uses by itself, counts which state follows which on each card
where neither was a thief's, adds one to every count so that nothing is impossible, and writes the shares to
`card_model.csv` beside this file. Shares are whole parts per million that add up to one million in each row.

The file, and what `--data model=FILE` takes, is a line with the states and then a line of probabilities for each.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.errors import UserError
from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.card_transactions import STATES, SyntheticTransactions
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables.reading import text_of_file

FIELDS = (
    Field("previous", FieldType.STRING, "state of a transaction"),
    Field("state", FieldType.STRING, "state of the card's next transaction"),
    Field("probability_ppm", FieldType.LONG, "how likely it follows, in parts per million"),
)
PARTS = 1_000_000
KEPT_FILE = Path(__file__).with_name("card_model.csv")
SEED, TRANSACTIONS = 1000, 400_000
"""What the kept file was made with."""

_TOLERANCE_PPM = 10_000
"""How far the probabilities of a row may be from one: they may be rounded."""


def train(seed: int, transactions: int) -> npt.NDArray[np.int64]:
    """Row by row the parts per million of each state after the row's state."""
    block = SyntheticTransactions(seed).block(0, transactions)
    position = {state: code for code, state in enumerate(STATES)}
    dictionary = block["state"].dictionary_encode()
    code_of = np.array([position[state] for state in dictionary.dictionary.to_pylist()])
    code = code_of[dictionary.indices.to_numpy()]
    card = block["card_id"].dictionary_encode().indices.to_numpy()
    honest = block["fraud"].to_numpy() == 0
    order = np.argsort(card, kind="stable")
    card, code, honest = card[order], code[order], honest[order]
    follows = (card[1:] == card[:-1]) & honest[1:] & honest[:-1]
    counts = np.ones((len(STATES), len(STATES)), np.int64)
    np.add.at(counts, (code[:-1][follows], code[1:][follows]), 1)
    return np.stack([_shares(row) for row in counts])


def _shares(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Parts per million, rounded down, and what is missing given to those that lost most."""
    shares, rests = np.divmod(counts * PARTS, counts.sum())
    shares[np.argsort(-rests, kind="stable")[: PARTS - int(shares.sum())]] += 1
    return shares


def written(model: npt.NDArray[np.int64]) -> str:
    """The text of a file with the model."""
    rows = [",".join(f"{part / PARTS:.6f}" for part in row) for row in model.tolist()]
    return "\n".join([",".join(STATES), *rows, ""])


def read(path: Path) -> pa.Table:
    """The model in a file, a row per pair of states."""
    head, *lines = text_of_file(path).splitlines()
    states = head.split(",")
    way_out = f"A line with the states and a line of {len(states)} probabilities for each of them is needed"
    if len(set(states)) != len(states) or len(lines) != len(states):
        raise UserError(
            f"{path}: {len(states)} states, {len(set(states))} of them different, {len(lines)} rows", way_out
        )
    pairs = []
    for number, (previous, line) in enumerate(zip(states, lines, strict=True), start=2):
        try:
            parts = [round(float(text) * PARTS) for text in line.split(",")]
        except ValueError:
            raise UserError(f"{path}, line {number}: not a row of numbers", way_out) from None
        if len(parts) != len(states) or min(parts) < 0 or abs(sum(parts) - PARTS) > _TOLERANCE_PPM:
            raise UserError(f"{path}, line {number}: not {len(states)} probabilities that add up to one", way_out)
        pairs += [(previous, state, part) for state, part in zip(states, parts, strict=True)]
    return pa.table([list(values) for values in zip(*pairs, strict=True)], schema=arrow_schema(FIELDS))


def _kept() -> pa.Table:
    return read(KEPT_FILE)


TABLE = StoredTable(
    name="card-model",
    about="A Markov chain of honest card transactions: how likely each state follows each other",
    fields=FIELDS,
    synthetic=_kept,
    recorded=read,
)


def main() -> None:
    """Train the model and write it down."""
    parser = argparse.ArgumentParser(description="Trains the Markov model of honest card transactions")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--transactions", type=int, default=TRANSACTIONS)
    parser.add_argument("--out", type=Path, default=KEPT_FILE)
    given = parser.parse_args()
    given.out.write_text(written(train(given.seed, given.transactions)))


if __name__ == "__main__":
    main()
