"""word-odds (BO6): how much each word speaks for spam, learned from mails before anything runs.

Graham's rule ("A plan for spam", 2002), as Bordin's Storm applications have it: with `s` and `h` the times that a word
was seen in spam and in ham, and `S` and `H` those of all words, the word's probability of spam is
`(s / S) / (s / S + 2 h / H)`, at least 0.01 and at most 0.99; the 2 fights false alarms. Here the probability is kept
in thousandths, rounded down, and the word's odds are the natural logarithm of `p / (1 - p)` in millionths, so that
sums of odds are whole numbers and the same everywhere.

The kept file holds the words and counts of 20,000 mails of the generator. It is written anew by
`python -m streamgauge.streams.tables.word_odds`; `--data odds=FILE` takes another CSV file with the columns word, spam
and ham.
"""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.mails import SPAM, STREAM
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables.reading import checked, read_csv

COUNTS = (
    Field("word", FieldType.STRING, "a word in small letters"),
    Field("spam", FieldType.LONG, "times that it was seen in spam"),
    Field("ham", FieldType.LONG, "times that it was seen in ham"),
)
FIELDS = (*COUNTS, Field("odds_millionths", FieldType.LONG, "logarithm of the odds that its mail is spam"))
LEAST_THOUSANDTHS, MOST_THOUSANDTHS, UNKNOWN_THOUSANDTHS = 10, 990, 400
"""A word's probability of spam stays between the first two; a word never seen has the third."""
TRAINING_SEED = 20_021
TRAINING_MAILS = 20_000
KEPT_FILE = Path(__file__).with_name("word_odds.csv")

Whole = npt.NDArray[np.int64]


@cache
def odds_by_thousandths() -> Whole:
    """The odds in millionths of every probability in thousandths, 0 where a probability is out of bounds."""
    odds = np.zeros(1001, dtype=np.int64)
    allowed = np.arange(LEAST_THOUSANDTHS, MOST_THOUSANDTHS + 1)
    odds[allowed] = np.round(1e6 * np.log(allowed / (1000 - allowed))).astype(np.int64)
    return odds


def odds_of(spam: Whole, ham: Whole, all_spam: Whole | int, all_ham: Whole | int) -> Whole:
    """The odds in millionths of words with these counts among as many words of spam and of ham."""
    for_spam = spam * np.maximum(all_ham, 1)
    for_ham = 2 * ham * np.maximum(all_spam, 1)
    either = for_spam + for_ham
    thousandths = np.clip(1000 * for_spam // np.maximum(either, 1), LEAST_THOUSANDTHS, MOST_THOUSANDTHS)
    return odds_by_thousandths()[np.where(either > 0, thousandths, UNKNOWN_THOUSANDTHS)]


def trained() -> pa.Table:
    """Words and counts of the first mails of the training seed, in the order of the words."""
    mails = STREAM.synthetic(TRAINING_SEED).block(0, TRAINING_MAILS)
    found = pc.split_pattern(mails["text"], " ")
    is_spam = pc.equal(mails["label"], SPAM).take(pc.list_parent_indices(found))
    words = pa.table({"word": found.flatten(), "spam": is_spam.cast(pa.int64())})
    counted = words.group_by("word").aggregate([("spam", "sum"), ("spam", "count")]).sort_by("word")
    ham = pc.subtract(counted["spam_count"], counted["spam_sum"])
    return pa.table([counted["word"], counted["spam_sum"], ham], schema=arrow_schema(COUNTS))


def _with_odds(counts: pa.Table) -> pa.Table:
    spam, ham = (counts[name].to_numpy() for name in ("spam", "ham"))
    odds = odds_of(spam, ham, int(spam.sum()), int(ham.sum()))
    return counts.append_column(arrow_schema(FIELDS).field("odds_millionths"), pa.array(odds))


@cache
def _rows() -> pa.Table:
    return _with_odds(read_csv(KEPT_FILE, COUNTS))


def _recorded(path: Path) -> pa.Table:
    return _with_odds(checked(read_csv(path, COUNTS), COUNTS, "word", path))


def write(path: Path) -> None:
    """Train and write the file that is kept."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([f.name for f in COUNTS])
    writer.writerows(zip(*trained().to_pydict().values(), strict=True))
    path.write_text(text.getvalue(), encoding="utf-8")


TABLE = StoredTable(
    name="word-odds",
    about="How much each word speaks for spam, learned from mails beforehand",
    fields=FIELDS,
    synthetic=_rows,
    recorded=_recorded,
)

if __name__ == "__main__":
    write(KEPT_FILE)
