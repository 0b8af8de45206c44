"""Near duplicates among task drafts: seeded pairs that say the same and near misses that do not, and what the detector
finds of them."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation_app.design.near_duplicates import find_near_duplicates
from benchmarks.parts.factory.paraphrases import CHINESE, CHINESE_VALUES, ENGLISH, VALUES, Family, Kind
from benchmarks.parts.figures import floor_share

SEED = 688
PAIRS = 500
"""Paraphrases, and as many near misses."""
CHINESE_SHARE = 0.2
OPENINGS = ("", "", "", "If you have a minute: ", "Here is what to do next. ", "Would you be so kind: ", "Next job: ")
ENDINGS = ("", "", "", " Cheers!", " Whenever it suits you.", " Many thanks in advance.")
CHINESE_OPENINGS = ("", "", "有空的话，", "辛苦一下，")
CHINESE_ENDINGS = ("", "", "多谢！", "慢慢来就行。")
RARE_WORDS = (
    ("make a", "rig up a"),
    ("Sort", "Arrange"),
    ("Order", "Procure"),
    ("order", "procure"),
    ("Find", "Hunt down"),
    ("Write", "Jot down"),
    ("Create", "Draw up"),
    ("Save", "Stash"),
    ("Color", "Tint"),
    ("color", "tint"),
    ("Split", "Cleave"),
    ("Block", "Bar"),
    ("block", "bar"),
    ("assign", "allot"),
    ("Count", "Tot up"),
    ("count", "tot up"),
    ("Move", "Shift"),
    ("move", "shift"),
    ("tell me", "report"),
    ("Book", "Reserve"),
    ("book", "reserve"),
)
"""Words for the same that the detector has no list of."""
OTHER_ACTIONS = (
    ("Make", "Delete"),
    ("make", "delete"),
    ("Sort", "Filter"),
    ("Move", "Copy"),
    ("move", "copy"),
    ("Order", "Return"),
    ("order", "return"),
    ("Write", "Print"),
    ("Create", "Close"),
    ("Save", "Share"),
    ("Crop", "Rotate"),
    ("Add", "Remove"),
    ("add", "remove"),
    ("Split", "Print"),
    ("Translate", "Delete"),
    ("Block", "Dial"),
    ("Play", "Download"),
    ("移到", "复制到"),
    ("排序", "筛选"),
    ("订", "退"),
)
OTHER_PLACES = (
    ("desktop", "shared drive"),
    ("calendar", "planner"),
    ("shop", "library"),
    ("system settings", "browser settings"),
    ("spreadsheet", "database"),
    ("phone", "tablet"),
    ("board", "whiteboard app"),
    ("terminal", "file manager"),
    ("playlist", "album"),
    ("日历", "备忘录"),
    ("商店", "仓库"),
    ("桌面", "网盘"),
    ("表格", "文档"),
)


@dataclass(frozen=True)
class Pair:
    """Two texts; `kind` says in what they differ: `paraphrase` in nothing."""

    one: str
    other: str
    kind: str
    family: int

    @property
    def is_held_out(self) -> bool:
        """Whether the detector was written without a look at its errors in this family: every fourth one."""
        return self.family % 4 == 2


def write_pairs(rng: random.Random, count: int) -> list[Pair]:
    """As many paraphrases as near misses, of all families and kinds in turn."""
    return [*_write(rng, count, near=False), *_write(rng, count, near=True)]


def _write(rng: random.Random, count: int, *, near: bool) -> Iterator[Pair]:
    seen = set[tuple[str, str]]()
    chinese = int(count * CHINESE_SHARE)
    while len(seen) < count:
        is_chinese = len(seen) < chinese
        families = CHINESE if is_chinese else ENGLISH
        place = rng.randrange(len(families))
        family, values = families[place], _draw_values(rng, families[place], is_chinese)
        one, other = rng.sample(family.wordings, 2)
        pair = _near_miss(rng, family, one, other, values, is_chinese) if near else None
        if near and pair is None:
            continue
        first, second, kind = pair or (one.format(**values), _rare(rng, other).format(**values), "paraphrase")
        first, second = _decorated(rng, first, is_chinese), _decorated(rng, second, is_chinese)
        if (first, second) not in seen:
            seen.add((first, second))
            yield Pair(first, second, kind, place + 100 * is_chinese)


def _near_miss(
    rng: random.Random, family: Family, one: str, other: str, values: dict[str, str], is_chinese: bool
) -> tuple[str, str, str] | None:
    """The two texts and in what they differ; half of the time in one wording, which is the harder half."""
    other = rng.choice((one, other))
    kind = rng.choice((*_kinds(family), "negation", "action", "place"))
    if kind == "negation":
        return one.format(**values), family.negated.format(**values), kind
    if kind in ("action", "place"):
        swaps = [swap for swap in (OTHER_ACTIONS if kind == "action" else OTHER_PLACES) if _has_word(other, swap[0])]
        if not swaps:
            return None
        word, changed = rng.choice(swaps)
        return one.format(**values), _swap(other, word, changed).format(**values), kind
    changed_values = {
        **values,
        kind: rng.choice([one for one in _choices(family, kind, is_chinese) if one != values[kind]]),
    }
    return one.format(**values), other.format(**changed_values), kind


def _kinds(family: Family) -> tuple[Kind, ...]:
    return tuple(kind for kind in ("number", "name", "date", "quote", "object") if f"{{{kind}}}" in family.wordings[0])


def _choices(family: Family, kind: str, is_chinese: bool) -> Sequence[str]:
    values = CHINESE_VALUES if is_chinese else VALUES
    return family.objects if kind == "object" else next(of for name, of in values.items() if name == kind)


def _draw_values(rng: random.Random, family: Family, is_chinese: bool) -> dict[str, str]:
    return {kind: rng.choice(_choices(family, kind, is_chinese)) for kind in _kinds(family)}


def _rare(rng: random.Random, wording: str) -> str:
    """With one word for the same that the detector does not know, where there is one and half of the time."""
    swaps = [(word, rare) for word, rare in RARE_WORDS if _has_word(wording, word)]
    return _swap(wording, *rng.choice(swaps)) if swaps and rng.random() < 0.5 else wording


def _has_word(text: str, word: str) -> bool:
    return word in text if not word.isascii() else re.search(rf"\b{word}\b", text) is not None


def _swap(text: str, word: str, changed: str) -> str:
    return text.replace(word, changed, 1) if not word.isascii() else re.sub(rf"\b{word}\b", changed, text, count=1)


def _decorated(rng: random.Random, text: str, is_chinese: bool) -> str:
    opening = rng.choice(CHINESE_OPENINGS if is_chinese else OPENINGS)
    ending = rng.choice(CHINESE_ENDINGS if is_chinese else ENDINGS)
    text = text[0].upper() + text[1:]
    return f"{opening}{text}{ending}"


def measure_duplicates(pairs: Sequence[Pair] | None = None) -> dict[str, object]:
    """Recall and precision over the pairs, and which kinds of near misses were taken for duplicates. All texts are
    compared with all others at once, as they are in a pool."""
    pairs = write_pairs(random.Random(SEED), PAIRS) if pairs is None else pairs
    found = find_near_duplicates([pair.one for pair in pairs], [pair.other for pair in pairs])
    hits = {one for one, other, _ in found if one == other}
    same = [place for place, pair in enumerate(pairs) if pair.kind == "paraphrase"]
    right = len(hits.intersection(same))
    wrong = Counter(pairs[place].kind for place in hits.difference(same))
    held_out = [place for place in same if pairs[place].is_held_out]
    apart = sum(pairs[one].family != pairs[other].family for one, other, _ in found)
    return {
        "paraphrases": len(same),
        "near_misses": len(pairs) - len(same),
        "duplicates_recall": floor_share(right, len(same)),
        "duplicates_precision": floor_share(right, len(hits)),
        "duplicates_recall_held_out": floor_share(len(hits.intersection(held_out)), len(held_out)),
        "near_misses_taken_for_duplicates": dict(sorted(wrong.items())),
        "duplicates_of_other_families": apart,
    }
