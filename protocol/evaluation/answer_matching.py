"""Whether two short answers are the same text, whatever their script, width, punctuation and numerals.

Equal here is right without asking a model. Different here says nothing: other words may mean the same.
"""

import re
import unicodedata

_DIGITS = {**dict(zip("零一二三四五六七八九", range(10), strict=True)), "〇": 0, "○": 0, "两": 2, "兩": 2}
_DIGITS |= dict(zip("壹贰叁肆伍陆柒捌玖", range(1, 10), strict=True))
_DIGITS |= dict(zip("貳參陸", (2, 3, 6), strict=True))
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_LARGE = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_NUMERAL = re.compile(f"[{''.join((*_DIGITS, *_UNITS, *_LARGE))}]+")
_TRADITIONAL = (
    "國學會員東馬門車電話長開關見時間書華當為來這個們說語對無實現應過還進運動機場點線網務國際體園經濟產業圖報"
)
_SIMPLIFIED = "国学会员东马门车电话长开关见时间书华当为来这个们说语对无实现应过还进运动机场点线网务国际体园经济产业图报"
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
"""Frequent characters alone: what it does not know stays different, and a model is asked."""
_DATE = re.compile(r"(\d{1,4})年(?:(\d{1,2})月)?(?:(\d{1,2})[日号號])?")
_THOUSANDS = re.compile(r"(?<=\d)[,，](?=\d{3}(?!\d))")
_CJK_SPACES = re.compile("(?<=[\u3040-\u30ff\u3400-\u9fff]) | (?=[\u3040-\u30ff\u3400-\u9fff])")
_LEADING = re.compile(r"^(?:the|a|an)\s+")


def is_same_answer(answer: str, references: tuple[str, ...]) -> bool:
    """Whether the answer is one of the references, written in another way at most."""
    given = normalize_answer(answer)
    return bool(given) and any(given == normalize_answer(reference) for reference in references)


def normalize_answer(text: str) -> str:
    """An answer for comparing: full-width forms, case, punctuation, spaces, English articles, Chinese numerals and
    dates, and frequent traditional characters are written in one way."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_TO_SIMPLIFIED)
    plain = _THOUSANDS.sub("", plain)
    plain = _NUMERAL.sub(lambda match: _numeral(match.group()), plain)
    plain = _DATE.sub(lambda match: "-".join(str(int(part)) for part in match.groups() if part), plain)
    plain = _LEADING.sub("", plain.strip())
    counted = (char if _counts(plain, place) else " " for place, char in enumerate(plain))
    words = " ".join("".join(counted).split())
    return _CJK_SPACES.sub("", words)


def _counts(text: str, place: int) -> bool:
    """Whether a character is more than punctuation: points and signs of numbers count."""
    char = text[place]
    if unicodedata.category(char)[0] in "LNMS":
        return True
    follows = text[place + 1 : place + 2].isdigit()
    before = text[place - 1 : place].isdigit() if place else False
    return follows and (char in "-−" and not text[place - 1 : place].isalpha() if not before else char in ".-:/")


def _numeral(text: str) -> str:
    """A Chinese numeral in digits: `一九八八`, `二十三`, `三万五千`; a text that is none stays as it is."""
    if all(char in _DIGITS for char in text):
        return "".join(str(_DIGITS[char]) for char in text)
    total = section = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            if section + digit == 0:
                return text
            total, section, digit = total + (section + digit) * _LARGE[char], 0, 0
    return str(total + section + digit)
