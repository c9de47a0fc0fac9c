"""Reads collections of mail: a TREC index beside its message files, CSV files of the Enron mails, and mbox files."""

from __future__ import annotations

import csv
import io
import mailbox
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from email.utils import getaddresses
from pathlib import Path
from zlib import crc32

from streamgauge.model.errors import UserError
from streamgauge.streams.recorded import file_content

LONGEST_TEXT = 10_000
_LABELS = ("spam", "ham")
_WAY_OUT = (
    "Give a TREC index (`spam ../data/inmail.1` per line), an mbox file, or a CSV file with the columns "
    "`file,message` or `Message ID,Subject,Message,Spam/Ham,Date`"
)


@dataclass(frozen=True)
class ReadMessage:
    """One message of a collection."""

    mailbox: int
    label: str | None
    text: str


def read_messages(path: Path) -> list[ReadMessage]:
    """The messages of a file in one of the forms, in its order."""
    content = file_content(path)
    first = content.lstrip(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace").strip()
    try:
        found = list(_form(first, path)(path, content))
    except (csv.Error, LookupError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", _WAY_OUT) from None
    if not found:
        raise UserError(f"{path} has no messages", _WAY_OUT)
    return found


def _form(first_line: str, path: Path) -> Callable[[Path, bytes], Iterator[ReadMessage]]:
    header = [name.strip('" ').lower() for name in first_line.split(",")]
    if first_line.startswith("From "):
        return _mbox
    if {"message", "spam/ham"} <= set(header):
        return _enron_spam
    if {"file", "message"} <= set(header):
        return _enron
    if re.match(r"(spam|ham)\s+\S", first_line, re.IGNORECASE):
        return _trec
    raise UserError(f"{path} is in none of the forms of mail that are known", _WAY_OUT)


def _trec(index: Path, content: bytes) -> Iterator[ReadMessage]:
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        label, _, name = line.strip().partition(" ")
        if label.lower() not in _LABELS or not name:
            raise UserError(f"{index}, line {number}: no label and file", "Write it like `spam ../data/inmail.1`")
        message = message_from_bytes(file_content(index.parent / name.strip()), policy=policy.default)
        yield ReadMessage(_mailbox_of(_recipient(message)), label.lower(), _text_of(message))


def _enron_spam(_: Path, content: bytes) -> Iterator[ReadMessage]:
    for row in _csv_rows(content):
        label = (row["spam/ham"] or "").strip().lower()
        text = f"{row.get('subject') or ''} {row['message'] or ''}"
        yield ReadMessage(_mailbox_of(""), label if label in _LABELS else None, _cut(text))


def _enron(_: Path, content: bytes) -> Iterator[ReadMessage]:
    for row in _csv_rows(content):
        message = message_from_bytes((row["message"] or "").encode(), policy=policy.default)
        owner = (row["file"] or "").partition("/")[0]
        yield ReadMessage(_mailbox_of(owner or _recipient(message)), None, _text_of(message))


def _mbox(path: Path, _: bytes) -> Iterator[ReadMessage]:
    box = mailbox.mbox(path, create=False)
    try:
        for key in box.iterkeys():
            message = message_from_bytes(box.get_bytes(key), policy=policy.default)
            yield ReadMessage(_mailbox_of(_recipient(message)), None, _text_of(message))
    finally:
        box.close()


def _csv_rows(content: bytes) -> Iterator[dict[str, str]]:
    csv.field_size_limit(1 << 30)
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig", "replace"), newline=""))
    rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or []]
    return rows


def _recipient(message: Message) -> str:
    addresses = getaddresses([str(value) for value in message.get_all("to", [])])
    return addresses[0][1].lower() if addresses else ""


def _mailbox_of(owner: str) -> int:
    """A number for the owner of a mailbox; one for all whose owner is unknown."""
    return crc32(owner.encode())


def _text_of(message: Message) -> str:
    """Subject and plain text; a part whose encoding is unknown or broken is read as far as it goes."""
    texts = [str(message.get("subject", ""))]
    for part in message.walk():
        if part.get_content_type() == "text/plain":
            try:
                texts.append(str(part.get_content() if isinstance(part, EmailMessage) else part.get_payload()))
            except (LookupError, ValueError):
                payload = part.get_payload(decode=True)
                texts.append(payload.decode("ascii", "replace") if isinstance(payload, bytes) else "")
    return _cut(" ".join(texts))


def _cut(text: str) -> str:
    # A character that no encoding knows (a lone surrogate) cannot be written to the log.
    return text.encode("utf-8", "replace").decode()[:LONGEST_TEXT].strip()
