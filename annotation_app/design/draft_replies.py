"""Task drafts written by a model: the prompt, and the parser, which names the fault of each draft that it rejects. Pure
functions."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from annotation_app.design.difficulty import Level, Rubric, level_of
from protocol.base import FrozenModel

Expertise = Literal["novice", "intermediate", "expert"]
EXPERTISES: tuple[Expertise, ...] = ("novice", "intermediate", "expert")
Scope = Literal["single", "several"]
SCOPES: tuple[Scope, ...] = ("single", "several")
LEVELS_OF: Mapping[Expertise, tuple[Level, ...]] = {"novice": (1, 2), "intermediate": (2, 3, 4), "expert": (4, 5)}
"""Levels that a rubric may give a task for such a person."""
Statement = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^\x00-\x1f]*$")
]
"""A precondition or a success criterion."""
Application = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]*$")
]
DraftText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=3, max_length=2_000, pattern=r"^[^\x00]*$")
]
LeftOutReason = Literal[
    "no_draft",
    "empty",
    "too_long",
    "no_criterion",
    "vague_criterion",
    "unknown_application",
    "wrong_scope",
    "bad_rubric",
    "too_many_statements",
    "names_secret",
    "duplicate",
    "beyond_count",
]
"""Why nothing became of a draft in a reply. no_draft: the reply has none at all."""

MAX_REPLY_LENGTH = 100_000
"""Characters of a reply that are read."""
MAX_STATEMENTS = 12
"""Preconditions, and success criteria."""
MIN_TEXT_LENGTH, MAX_TEXT_LENGTH, MAX_STATEMENT_LENGTH = 3, 2_000, 300
MAX_LEFT_OUT, MAX_SHOWN = 200, 200
TEXT_KEYS = ("text", "task", "instruction", "query")
CRITERIA_KEYS = ("criteria", "success_criteria")

_VAGUE = re.compile(
    r"\b(?:looks?|seems?|feels?|appears?) (?:\w+ )?(?:good|right|nice|fine|correct|ok(?:ay)?|professional|clean)\b"
    r"|\bworks? (?:\w+ )?(?:well|fine|properly|correctly|as (?:expected|intended))\b"
    r"|\b(?:as (?:expected|intended|required|desired)|satisf\w+|happy|user.friendly|easy to (?:read|use|understand))\b"
    r"|\b(?:task|it|everything|work|job) (?:is|was|has been) (?:\w+ )?(?:done|complete[d]?|finished|ok(?:ay)?|good|"
    r"correct|right|successful)(?: \w+ly)?\W*$"
    r"|^\W*(?:successful(?:ly)?|success|done|completed?|correct(?:ness|ly)?|accura(?:cy|te)|quality|finished)\W*$"
    r"|看起来(?:很|挺|不错|正确|好)|(?:用户|使用者)(?:很|感到)?满意|符合(?:预期|要求|期望)|正常工作|顺利(?:完成|进行)"
    r"|^\W*(?:任务|一切|操作)?(?:已|都|成功)*(?:完成|成功|正确|做好)了?\W*$",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\bsecret:\w+"
    r"|\b(?:password|passcode|passphrase|pin(?: code)?|api[ _-]?key|access token|secret key)\b(?: is|:| =|=| of)? ?"
    r"(?:[\"'“‘`][^\"'”’`]+[\"'”’`]|\S*\d\S*)"
    r"|\b(?:sk|ghp|gho|xox[bp])[-_]\w{8,}|\bAKIA[0-9A-Z]{12,}"
    r"|(?:密码|口令|密钥)(?:是|为|：|:|“|「)\s*[“「\"']?\w+",
    re.IGNORECASE,
)


class Cell(FrozenModel):
    """Drafts of one kind: for whom, in how many applications, and how many are wanted."""

    expertise: Expertise
    scope: Scope
    count: Annotated[int, Field(ge=1, le=50)]


class LeftOut(FrozenModel):
    """A draft of a reply that nothing became of."""

    text: str
    reason: LeftOutReason
    detail: str = ""
    """What of it, such as the criterion that cannot be checked."""


class DraftContent(FrozenModel):
    """What a draft says; `applications` are names of the graph's topmost nodes, the node's own first."""

    text: DraftText
    expertise: Expertise
    applications: Annotated[tuple[Application, ...], Field(min_length=1, max_length=8)]
    persona: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[^\x00-\x1f]*$")] = ""
    preconditions: Annotated[tuple[Statement, ...], Field(max_length=MAX_STATEMENTS)] = ()
    criteria: Annotated[tuple[Statement, ...], Field(min_length=1, max_length=MAX_STATEMENTS)]
    rubric: Rubric = Rubric()


@dataclass(frozen=True)
class Topic:
    """What drafts are about. `applications` are all that the graph has; `known` are texts of drafts that exist."""

    path: tuple[str, ...]
    applications: tuple[str, ...]
    persona: str = ""
    language: str = "en"
    known: Collection[str] = ()


def scope_of(applications: Sequence[str]) -> Scope:
    """Whether a task stays in one application."""
    return "several" if len(set(applications)) > 1 else "single"


def is_level_contradicted(expertise: Expertise, rubric: Rubric) -> bool:
    """Whether what is counted of a task gives a level that is not for such a person."""
    return level_of(rubric) not in LEVELS_OF[expertise]


def is_vague(criterion: str) -> bool:
    """Whether a criterion cannot be checked, such as "it looks good"."""
    return _VAGUE.search(criterion) is not None or len(re.sub(r"\W", "", criterion)) < 4


def has_secret(text: str) -> bool:
    """Whether a text names a secret: `secret:NAME`, or a password, a PIN or a key with its value."""
    return _SECRET.search(text) is not None


def share_out(count: int, expertises: Sequence[Expertise], scopes: Sequence[Scope]) -> tuple[Cell, ...]:
    """The cells of a request; the first ones get one more where the count does not divide."""
    kinds = [(one, scope) for one in EXPERTISES if one in expertises for scope in SCOPES if scope in scopes]
    each, more = divmod(count, len(kinds))
    counts = [each + (place < more) for place in range(len(kinds))]
    return tuple(Cell(expertise=one, scope=scope, count=n) for (one, scope), n in zip(kinds, counts, strict=True) if n)


_PEOPLE: Mapping[Expertise, str] = {
    "novice": "a beginner: one goal, at most about 10 steps, nothing to find out first",
    "intermediate": "somebody who uses it every week: 10 to 25 steps, or something to carry from one page to another",
    "expert": "an expert: more than 20 steps over several pages, with preconditions and with exceptions to handle",
}
_LANGUAGES = {"en": "English", "zh": "Chinese (simplified)"}
_PROMPT = """You write tasks for people who work with a computer. Each task is something that a person really wants to \
have done in {application}.

What it is about: {path}
Who does it: {person}
{persona}{scope}
Write the tasks in {language}. Name every file, number, date and text that is needed. Never name a password or a key.

Answer with a JSON list of {count} objects and nothing else. Each object has these keys:
"text": the task, addressed to who does it
"applications": list of names
"preconditions": list of what must be there before the start; empty if nothing
"criteria": list of 1 to 4 facts that the screen shows when it is done; each can be checked as true or false
"rubric": {{"steps": acts by the shortest way, "pages": changes of page or window that carry something along, \
"prerequisites": what must be found out or set up first, "exceptions": what goes wrong and has to be handled}}

An example of such a list, about something else:
[{{"text": "Set an alarm for 7:30 on 4 May.", "applications": ["Clock"], "preconditions": [], \
"criteria": ["The list of alarms shows 7:30 on 4 May"], \
"rubric": {{"steps": 4, "pages": 0, "prerequisites": 0, "exceptions": 0}}}}]"""


def render_prompt(topic: Topic, cell: Cell) -> str:
    """What the model is asked for one cell."""
    own = topic.path[0]
    others = ", ".join(name for name in topic.applications if name != own)
    alone = f'It is done in {own} alone: "applications" is ["{own}"].'
    several = f"It needs {own} and at least one other of these applications: {others}."
    return _PROMPT.format(
        application=own,
        path=" / ".join(topic.path),
        person=_PEOPLE[cell.expertise],
        persona=f"The person: {topic.persona}\n" if topic.persona else "",
        scope=alone if cell.scope == "single" else several,
        language=_LANGUAGES.get(topic.language, "English"),
        count=cell.count,
    )


def parse_drafts(reply: str, topic: Topic, cell: Cell) -> tuple[tuple[DraftContent, ...], tuple[LeftOut, ...]]:
    """The drafts in a reply, at most as many as the cell wants, and what was left out and why. A reply may have text
    or fences around its JSON, be cut off behind an object, or give one object a line."""
    drafts: list[DraftContent] = []
    left_out: list[LeftOut] = []
    known = {normalize_text(text) for text in topic.known}
    for found in _objects(reply[:MAX_REPLY_LENGTH]):
        draft = _read(found, topic, cell)
        if isinstance(draft, DraftContent) and normalize_text(draft.text) in known:
            draft = LeftOut(text=draft.text[:MAX_SHOWN], reason="duplicate")
        if isinstance(draft, DraftContent) and len(drafts) == cell.count:
            draft = LeftOut(text=draft.text[:MAX_SHOWN], reason="beyond_count")
        if isinstance(draft, LeftOut):
            left_out.append(draft)
        else:
            known.add(normalize_text(draft.text))
            drafts.append(draft)
    if not drafts and not left_out:
        left_out.append(LeftOut(text=" ".join(reply.split())[:MAX_SHOWN], reason="no_draft"))
    return tuple(drafts), tuple(left_out[:MAX_LEFT_OUT])


def normalize_text(text: str) -> str:
    """What two texts that differ in nothing but case, space and punctuation have in common."""
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


def find_fault(draft: DraftContent, applications: Collection[str]) -> LeftOut | None:
    """Why a draft of a person or a model cannot be used; None if it can."""

    def fault(reason: LeftOutReason, detail: str) -> LeftOut:
        return LeftOut(text=draft.text[:MAX_SHOWN], reason=reason, detail=detail[:MAX_SHOWN])

    for name in draft.applications:
        if name not in applications:
            return fault("unknown_application", name)
    for criterion in draft.criteria:
        if is_vague(criterion):
            return fault("vague_criterion", criterion)
    for said in (draft.text, *draft.preconditions, *draft.criteria):
        if has_secret(said):
            return fault("names_secret", said)
    return None


def _read(found: Mapping[str, Any], topic: Topic, cell: Cell) -> DraftContent | LeftOut:
    said = next((found[key] for key in TEXT_KEYS if isinstance(found.get(key), str)), "")
    text = " ".join(said.replace("\x00", " ").split())

    def fault(reason: LeftOutReason, detail: str = "") -> LeftOut:
        return LeftOut(text=text[:MAX_SHOWN], reason=reason, detail=detail[:MAX_SHOWN])

    criteria = _texts(next((found[key] for key in CRITERIA_KEYS if key in found), None))
    preconditions = _texts(found.get("preconditions"))
    if (reason := _size_fault(text, criteria, preconditions)) is not None:
        return fault(reason, max((*criteria, *preconditions), key=len, default="") if reason == "too_long" else "")
    try:
        rubric = Rubric.model_validate(found.get("rubric") or {})
        draft = DraftContent(
            text=text,
            expertise=cell.expertise,
            applications=_applications(found.get("applications"), topic),
            persona=topic.persona,
            preconditions=preconditions,
            criteria=criteria,
            rubric=rubric,
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        return fault("bad_rubric", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    if (wrong := find_fault(draft, topic.applications)) is not None:
        return wrong
    if scope_of(draft.applications) != cell.scope:
        return fault("wrong_scope", ", ".join(draft.applications))
    return draft


def _size_fault(text: str, criteria: Sequence[str], preconditions: Sequence[str]) -> LeftOutReason | None:
    """What is missing of a draft or too much of it."""
    if len(text) < MIN_TEXT_LENGTH:
        return "empty"
    if len(text) > MAX_TEXT_LENGTH or any(len(one) > MAX_STATEMENT_LENGTH for one in (*criteria, *preconditions)):
        return "too_long"
    if max(len(criteria), len(preconditions)) > MAX_STATEMENTS:
        return "too_many_statements"
    return None if criteria else "no_criterion"


def _applications(said: Any, topic: Topic) -> tuple[str, ...]:
    """The names as the graph spells them, the node's own first."""
    spelled = {name.casefold(): name for name in topic.applications}
    names = [spelled.get(name.casefold(), name[:100]) for name in _texts(said)]
    return tuple(dict.fromkeys((topic.path[0], *names)))[:8]


def _texts(said: Any) -> tuple[str, ...]:
    """A list of texts, or one text; what is no text is left out."""
    texts: Iterable[Any] = [said] if isinstance(said, str) else said if isinstance(said, list) else ()
    cleaned = (" ".join(re.sub(r"[\x00-\x1f]", " ", text).split()) for text in texts if isinstance(text, str))
    return tuple(text for text in cleaned if text)


def _objects(reply: str) -> Iterator[Mapping[str, Any]]:
    """Every JSON object in a reply that says a task, not those inside one."""
    reply = re.sub(r",\s*(?=[\]}])", "", reply)
    decoder, at, tries = json.JSONDecoder(), reply.find("{"), 0
    while at != -1 and tries < 2_000:
        tries += 1
        try:
            value, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if not any(key in value for key in TEXT_KEYS):
                end = at + 1  # such as {"tasks": [...]}
                if not any(isinstance(inner, list | dict) for inner in value.values()):
                    end = at + 2
            else:
                yield value
        at = reply.find("{", end)
