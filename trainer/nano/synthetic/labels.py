"""Labels without end: real words, invented ones and strings, part of which no training ever sees.

Real words are those of Python's own manual, which every interpreter carries. Which words are kept for measuring follows
from the word alone, so that no seed and no later run can mix them in.
"""

import hashlib
import re
import string
from functools import cache
from pydoc_data.topics import topics
from random import Random

HELD_OUT_ONE_IN = 10
"""One in so many words is kept for measuring."""
SHORTEST, LONGEST = 2, 11
ONSETS = (*"bcdfghjklmnprstvwz", "br", "ch", "cl", "dr", "fl", "gr", "pl", "pr", "sh", "st", "th", "tr", "qu", "")
NUCLEI = (*"aeiouy", "ea", "ee", "ai", "oo", "ou", "io")
CODAS = ("", "", "n", "r", "l", "s", "t", "d", "m", "ck", "ng", "st", "ll", "x", "p")
CASES = (str.capitalize, str.capitalize, str.lower, str.upper)


def is_held_out(word: str) -> bool:
    """Whether a word is never trained on, however it is written."""
    return hashlib.blake2b(word.lower().encode(), digest_size=4).digest()[0] % HELD_OUT_ONE_IN == 0


@cache
def real_words(*, held_out: bool) -> tuple[str, ...]:
    """Words of the manual, those for training or those for measuring."""
    found = re.findall(rf"\b[a-z]{{{SHORTEST},{LONGEST}}}\b", " ".join(topics.values()).lower())
    return tuple(word for word in sorted(set(found)) if is_held_out(word) == held_out)


def invented_word(random: Random) -> str:
    """Something that could be a word."""
    syllables = random.randint(1, 3)
    word = "".join(random.choice(ONSETS) + random.choice(NUCLEI) + random.choice(CODAS) for _ in range(syllables))
    return word[:LONGEST] if len(word) >= SHORTEST else word + "n"


def sample_label(random: Random, *, held_out: bool = False) -> str:
    """What a widget may be called; with `kept`, of words alone that no training sees."""
    kind = random.random()
    if kind < 0.12 and not held_out:
        return _string(random)
    case = random.choice(CASES)
    words = [case(_word(random, held_out))]
    if kind > 0.85:
        words.append((str.lower if case is str.capitalize else case)(_word(random, held_out)))
    return " ".join(words)


def _word(random: Random, held_out: bool) -> str:
    if random.random() < 0.65:
        return random.choice(real_words(held_out=held_out))
    while is_held_out(word := invented_word(random)) != held_out:
        pass
    return word


def _string(random: Random) -> str:
    """A number, a code, or letters at random."""
    match random.randrange(4):
        case 0:
            return str(random.randint(0, 10 ** random.randint(1, 4)))
        case 1:
            return f"{random.randint(0, 99)}{random.choice('.:/-,')}{random.randint(0, 99):02}"
        case 2:
            return "".join(random.choices(string.ascii_letters + string.digits, k=random.randint(2, 7)))
        case _:
            return "".join(random.choices(string.ascii_letters + "-_.@#&+*!?()", k=random.randint(2, 8)))
