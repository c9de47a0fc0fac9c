"""Invented words and sites for generated text: a few real search words, then syllables put together by rule."""

from __future__ import annotations

from functools import cache

WORD_COUNT = 4096
SITE_COUNT = 4096


def _split(text: str) -> list[str]:
    return text.split()


_COMMON_WORDS = _split(
    "of in the and for free to google yahoo ebay weather music lyrics mapquest county school new myspace games "
    "pictures home how city craigslist movie sale real estate dictionary hotmail jobs car online high state bank "
    "health news florida texas american white house hotel recipes travel maps phone radio airlines casino "
    "university church insurance used cars store black love book song sports baseball video dog red center park "
    "flowers beach hair tickets cheap wedding kids party baby credit cards mortgage rates medical hospital symptoms"
)

_ONSETS = _split("b br c ch cl d dr f fl g gr h j k l m n p pl qu r s sh sk st t th tr v w")
_VOWELS = _split("a e i o u ai ea ee io ou")
_CODAS = ["", "", "l", "n", "r", "s", "t", "nd", "ck", "m"]
_ENDINGS = (".com", ".com", ".com", ".org", ".net", ".edu", ".gov", ".com")


def _syllable(number: int) -> tuple[str, int]:
    """One syllable chosen by a number, and what is left of that number for the next."""
    number, onset = divmod(number, len(_ONSETS))
    number, vowel = divmod(number, len(_VOWELS))
    number, coda = divmod(number, len(_CODAS))
    return _ONSETS[onset] + _VOWELS[vowel] + _CODAS[coda], number


def _invented_word(rank: int) -> str:
    """A word of one to three syllables for a rank; common ranks get the shorter words."""
    number = (rank * 2_654_435_761 + 40_503) % (1 << 40)
    syllables = 1 if rank < 200 else 2 if rank < 3000 or rank % 3 else 3
    word = ""
    for _ in range(syllables):
        part, number = _syllable(number)
        word += part
    return word


@cache
def words() -> tuple[str, ...]:
    """All words, the most frequent first, no two alike."""
    found = dict.fromkeys(_COMMON_WORDS)
    rank = 0
    while len(found) < WORD_COUNT:
        found.setdefault(_invented_word(rank))
        rank += 1
    return tuple(found)


@cache
def sites() -> tuple[str, ...]:
    """Addresses of invented sites, the most visited first, no two alike."""
    vocabulary = words()
    found: dict[str, None] = {}
    rank = 0
    while len(found) < SITE_COUNT:
        name = vocabulary[(rank * 7 + 11) % WORD_COUNT]
        if rank % 4 == 3:
            name += vocabulary[(rank * 13 + 5) % WORD_COUNT]
        found.setdefault(f"http://www.{name}{_ENDINGS[rank % len(_ENDINGS)]}")
        rank += 1
    return tuple(found)
