"""mails (BO6): mail messages of 20 to 60 words, spam and ham, as JSON of about 330 bytes.

Spam and ham use one vocabulary, but each word more in the one or in the other; two mails in five are spam, and half of
all mails are meant for training. Mails belong to a mailbox, and all mails of a mailbox lie in one partition. A label
says what a mail is; what judges mails must not read it, what learns from them may.

`--data FILE` replays messages, in order, every other one for training if it has a label:
- the index of a TREC 2007 public corpus (`full/index`), lines like `spam ../data/inmail.1`, which name a label and a
  message file by its path from the index;
- the Enron-Spam collection as a CSV file with the columns `Message ID,Subject,Message,Spam/Ham,Date`;
- the Enron corpus as a CSV file with the columns `file,message`, or any mbox file; these have no labels.
A message's text is its subject and its parts of plain text, cut at 10,000 characters; its mailbox is found by the
recipient, or by the folder's owner where `file` names one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.mail_files import read_messages
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.recorded import looped
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.vocabulary import WORD_COUNT, words

SPAM, HAM = "spam", "ham"
TRAIN, ANALYSE = "train", "analyse"
FIELDS = (
    Field("id", FieldType.LONG, "number of the mail"),
    Field("mailbox", FieldType.LONG, "number of the mailbox that it lies in"),
    Field("kind", FieldType.STRING, "train or analyse"),
    Field("label", FieldType.STRING, "spam or ham", optional=True),
    Field("text", FieldType.STRING, "subject and message"),
)
MAILBOXES = 128

_SPAM_SHARE = 0.4
_PHRASE_WIDTH = 12
_PHRASE_WORDS = (10, 15)
"""Fewest and most words of a phrase; a mail has two to four phrases."""
_PHRASES = (0.3, 0.4, 0.3)
_TILT = 2.4
"""How far, in natural logarithms, a word may lean to spam or to ham."""
_STRAY = 24
"""Of 256 phrases, those that a mail takes from the other kind: quotations, and spam in disguise."""


@cache
def _phrases() -> pa.StringArray:
    """2 ** _PHRASE_WIDTH phrases of ham, then as many of spam."""
    found = []
    fewest, most = _PHRASE_WORDS
    texts = pa.array(words(), pa.string())
    lean = _TILT * (field(random_bits(0, 0, 0, WORD_COUNT), 0, 16) / (1 << 15) - 1)
    for kind, sign in enumerate((-1, 1)):
        word_of = lookup_table(zipf_weights(WORD_COUNT, 0.85) * np.exp(sign * lean), 16)
        bits = [random_bits(kind, 1 + lane, 0, 1 << _PHRASE_WIDTH) for lane in range(1 + most // 4)]
        lengths = fewest + field(bits[-1], 48, 8) % (most - fewest + 1)
        pieces = []
        for place in range(most):
            drawn = texts.take(column(word_of[field(bits[place // 4], 16 * (place % 4), 16)]))
            pieces.append(pc.if_else(pa.array(lengths > place), drawn, pa.scalar(None, pa.string())))
        found.append(pc.binary_join_element_wise(*pieces, " ", null_handling="skip"))
    return pa.concat_arrays(found)


@dataclass(frozen=True)
class _Tables:
    """What mails are looked up in."""

    phrases: pa.StringArray
    """Phrases of ham, of spam, and a missing one."""
    spam_of: npt.NDArray[np.int32]
    count_of: npt.NDArray[np.int32]
    labels: pa.StringArray
    kinds: pa.StringArray


@cache
def _tables() -> _Tables:
    return _Tables(
        phrases=pa.concat_arrays([_phrases(), pa.array([None], pa.string())]),
        spam_of=lookup_table((1 - _SPAM_SHARE, _SPAM_SHARE), 10),
        count_of=2 + lookup_table(_PHRASES, 10),
        labels=pa.array([HAM, SPAM], pa.string()),
        kinds=pa.array([TRAIN, ANALYSE], pa.string()),
    )


@dataclass(frozen=True)
class SyntheticMails:
    """Generated mails: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        tables = _tables()
        index = np.arange(start, start + count, dtype=np.int64)
        mail_bits, phrase_bits, stray_bits = (random_bits(self.seed, lane, start, count) for lane in range(3))
        is_spam = tables.spam_of[field(mail_bits, 0, 10)].astype(np.int64)
        phrases = tables.count_of[field(mail_bits, 10, 10)]
        none = np.int64(2 << _PHRASE_WIDTH)
        chosen = []
        for place in range(2 + len(_PHRASES) - 1):
            kind = is_spam ^ (field(stray_bits, 8 * place, 8) < _STRAY)
            phrase = (kind << _PHRASE_WIDTH) + field(phrase_bits, _PHRASE_WIDTH * place, _PHRASE_WIDTH)
            chosen.append(tables.phrases.take(column(np.where(phrases > place, phrase, none))))
        return pa.RecordBatch.from_arrays(
            [
                column(index),
                column(1 + field(mail_bits, 20, 32) % MAILBOXES),
                tables.kinds.take(column(field(mail_bits, 52, 1))),
                tables.labels.take(column(is_spam)),
                pc.binary_join_element_wise(*chosen, " ", null_handling="skip"),
            ],
            schema=arrow_schema(FIELDS),
        )


def _recorded(path: Path) -> Source:
    rows = []
    for number, message in enumerate(read_messages(path)):
        rows.append(
            {
                "id": number,
                "mailbox": message.mailbox,
                "kind": TRAIN if message.label is not None and number % 2 == 0 else ANALYSE,
                "label": message.label,
                "text": message.text,
            }
        )
    return looped(pa.Table.from_pylist(rows, schema=arrow_schema(FIELDS)))


STREAM = Stream(
    name="mails",
    about="Mail messages, labelled spam or ham, of many mailboxes",
    fields=FIELDS,
    wire=Json(),
    synthetic=SyntheticMails,
    recorded=_recorded,
    key="mailbox",
    papers=("BO6", "BO19"),
)
