"""What proposed tasks must hold up to before they are played. Each filter gives a code, or nothing."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from protocol.site_tasks import (
    AnswerCondition,
    AnswerStep,
    ElementCondition,
    ScriptStep,
    StateCondition,
    TypeStep,
    UrlCondition,
    Where,
    needs_answer,
)
from protocol.wordings.comparison import say_the_same
from task_factory.sites.crawler import CrawledPage
from task_factory.sites.proof import elements_of
from task_factory.sites.records import FilterName, Proposal, Refusal, SiteFunction
from task_factory.sites.safety import HARMLESS_ROLES, destructive_reason, instruction_reason

INSTRUCTION_LENGTH = (15, 800)
LEAST_STEPS = 2
_VAGUE_WORDS = json.loads((Path(__file__).parent / "vague_words.json").read_text(encoding="utf-8"))
_VAGUE = re.compile(rf"\b(?:{'|'.join(_VAGUE_WORDS['en'])})\b|{'|'.join(_VAGUE_WORDS['zh'])}", re.IGNORECASE)
Objection = tuple[str, str]
"""A code and a reason; both empty where there is none."""
NONE: Objection = ("", "")


def ground_functions(
    page: CrawledPage, functions: Iterable[SiteFunction]
) -> tuple[list[SiteFunction], list[tuple[str, str]]]:
    """Functions whose elements are all on the page, and the code and name of the others."""
    kept, refused = list[SiteFunction](), list[tuple[str, str]]()
    count = len(page.view.elements)
    for one in functions:
        numbers = [re.fullmatch(r"e(\d{1,3})", element) for element in one.elements]
        known = [found for found in numbers if found is not None and 1 <= int(found[1]) <= count]
        named = [page.view.elements[int(found[1]) - 1] for found in known]
        if len(known) < len(one.elements):
            refused.append(("ungrounded", one.name))
        elif not any(element.is_control or element.is_link for element in named):
            refused.append(("nothing_to_use", one.name))
        elif destructive_reason(one.name):
            refused.append(("destructive", one.name))
        else:
            kept.append(one)
    return kept, refused


def check_safe(proposal: Proposal) -> Objection:
    """Whether words say that it does what no task may: of the task, its steps and criteria, and of what it presses."""
    for text in (proposal.proposed_task, *proposal.steps, *proposal.criteria):
        if reason := instruction_reason(text):
            return f"destructive_{reason}", text[:200]
    for element in chain.from_iterable(map(elements_of, proposal.script)):
        if element.role not in HARMLESS_ROLES and (reason := destructive_reason(element.name)):
            return f"destructive_{reason}", f"{element.role} “{element.name}”"
    return NONE


def check_grounded(proposal: Proposal, first: CrawledPage) -> Objection:
    """Whether its first step uses something that the site's first page has, and an answer comes last."""
    wanted = next(iter(chain.from_iterable(map(elements_of, proposal.script))), None)
    if wanted is None:
        return "no_element", "no step uses an element"
    if first.view.find(wanted) is None and not (proposal.after or proposal.preconditions):
        return "not_on_page", f"{wanted.role} “{wanted.name}” is not on the first page"
    if any(isinstance(step, AnswerStep) for step in proposal.script[:-1]):
        return "answer_not_last", "an answer ends a task"
    return NONE


def check_verifiable(proposal: Proposal) -> Objection:
    """Whether there is something to judge by, and the check and the script agree on whether an answer is asked for."""
    answers = isinstance(proposal.script[-1], AnswerStep)
    if not proposal.check:
        return NONE if proposal.criteria else ("nothing_to_judge", "neither a check nor criteria")
    if answers != needs_answer(proposal.check):
        return "answer_unchecked", "the script answers and the check does not ask, or the reverse"
    if any(isinstance(one, StateCondition) and one.equals is None and one.length is None for one in proposal.check):
        return "empty_condition", "a condition on the state compares with nothing"
    if any(isinstance(one, UrlCondition) and one.equals is None and one.contains is None for one in proposal.check):
        return "empty_condition", "a condition on the address compares with nothing"
    return NONE


def check_clear(proposal: Proposal) -> Objection:
    """Whether the sentence says all that its script and its check go by, and does not give the answer away."""
    text = _plain(proposal.proposed_task)
    shortest, longest = INSTRUCTION_LENGTH
    if not shortest <= len(proposal.proposed_task) <= longest:
        return "length", f"{len(proposal.proposed_task)} characters"
    if len(proposal.script) < LEAST_STEPS:
        return "too_short", "it takes one step"
    for step in proposal.script:
        if isinstance(step, TypeStep) and _plain(step.text) not in text:
            return "text_not_said", step.text[:100]
    for value in _compared_values(proposal):
        if _plain(value) not in text:
            return "value_not_said", value[:100]
    for condition in proposal.check:
        if isinstance(condition, AnswerCondition) and any(_has_words(text, _plain(one)) for one in condition.accepted):
            return "answer_leaks", "the answer stands in the task"
    return NONE


def check_objective(proposal: Proposal) -> Objection:
    """Whether no word leaves the outcome to taste."""
    found = next((hit for text in (proposal.proposed_task, *proposal.criteria) if (hit := _VAGUE.search(text))), None)
    return NONE if found is None else ("vague", found[0])


def merge_prerequisites(proposals: Sequence[Proposal]) -> tuple[list[Proposal], list[Refusal]]:
    """Chain tasks that begin where another one ends, and take a task whose script is the beginning of another one's
    into that one, as its precondition."""
    by_id = {one.id: one for one in proposals}
    refusals = list[Refusal]()
    chained = list[Proposal]()
    for one in proposals:
        before = _chain_before(one, by_id)
        if before is None:
            refusals.append(_refuse(one, "merged", "unknown_prerequisite", one.after))
        else:
            chained.append(_join([*before, one]) if before else one)
    kept = list[Proposal]()
    preconditions: dict[str, tuple[str, ...]] = {}
    for one in chained:
        longer = next((other for other in chained if other.id != one.id and _is_beginning(one, other)), None)
        if longer is None:
            kept.append(one)
            continue
        refusals.append(_refuse(one, "merged", "prerequisite", f"it is the beginning of {longer.id}"))
        if one.proposed_task not in longer.preconditions:
            preconditions[longer.id] = (*preconditions.get(longer.id, ()), one.proposed_task)
    return [_with_preconditions(one, preconditions.get(one.id, ())) for one in kept], refusals


def find_duplicates(proposals: Sequence[Proposal]) -> tuple[list[Proposal], list[Refusal]]:
    """Drop tasks that do the same as one before, or say it in other words."""
    kept, refusals = list[Proposal](), list[Refusal]()
    for one in proposals:
        same = next((other for other in kept if _is_same(one, other)), None)
        if same is None:
            kept.append(one)
        else:
            refusals.append(_refuse(one, "distinct", "duplicate", f"nearly the same as {same.id}"))
    return kept, refusals


def apply_filter(
    name: FilterName, check: Callable[[Proposal], Objection], proposals: Sequence[Proposal]
) -> tuple[list[Proposal], list[Refusal]]:
    """The proposals that a filter lets pass, and the others with its code."""
    kept, refusals = list[Proposal](), list[Refusal]()
    for one in proposals:
        code, reason = check(one)
        if code:
            refusals.append(_refuse(one, name, code, reason))
        else:
            kept.append(one)
    return kept, refusals


def keeps_facts(before: Proposal, wording: str) -> bool:
    """Whether another wording still has every number and quoted text, every text that is typed, and every value that is
    checked."""
    told = _plain(wording)
    numbers = re.findall(r"\d+(?:[.,:]\d+)*", before.proposed_task)
    quoted = re.findall(r"[“\"「『]([^”\"」』]+)[”\"」』]", before.proposed_task)
    typed = [step.text for step in before.script if isinstance(step, TypeStep)]
    values = [value for value in _compared_values(before) if _plain(value) in _plain(before.proposed_task)]
    return all(_plain(fact) in told for fact in (*numbers, *quoted, *typed, *values))


def _compared_values(proposal: Proposal) -> list[str]:
    """Texts that the check compares with, and the task must therefore say."""
    found = list[str]()
    for one in proposal.check:
        if isinstance(one, StateCondition):
            found += [one.equals] if isinstance(one.equals, str) and one.equals else []
            found += [
                value
                for part in one.path
                if isinstance(part, Where)
                for value in part.where.values()
                if isinstance(value, str) and value
            ]
        elif isinstance(one, ElementCondition) and one.state == "value" and one.value:
            found.append(one.value)
    return found


def _chain_before(one: Proposal, by_id: dict[str, Proposal]) -> list[Proposal] | None:
    """The tasks to be done before, first first; None where one is unknown or waits for itself."""
    before, seen = list[Proposal](), {one.id}
    while one.after:
        if one.after in seen or one.after not in by_id:
            return None
        one = by_id[one.after]
        seen.add(one.id)
        before.insert(0, one)
    return before


def _join(steps: Sequence[Proposal]) -> Proposal:
    last = steps[-1]
    script: list[ScriptStep] = []
    for one in steps[:-1]:
        script += [step for step in one.script if not isinstance(step, AnswerStep)]
    tasks = [one.proposed_task.rstrip(". 。") for one in steps]
    text = ". Then: ".join(tasks) + "."
    told = tuple(chain.from_iterable(one.steps for one in steps))
    return last.model_copy(
        update={
            "script": (*script, *last.script),
            "proposed_task": text,
            "steps": told,
            "after": "",
            "preconditions": tuple(one.proposed_task for one in steps[:-1]),
        }
    )


def _is_beginning(one: Proposal, other: Proposal) -> bool:
    return len(one.script) < len(other.script) and other.script[: len(one.script)] == one.script


def _with_preconditions(one: Proposal, more: tuple[str, ...]) -> Proposal:
    return one.model_copy(update={"preconditions": (*one.preconditions, *more)}) if more else one


def _is_same(one: Proposal, other: Proposal) -> bool:
    does_the_same = one.script == other.script and one.check == other.check
    return does_the_same or say_the_same(one.proposed_task, other.proposed_task)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()


def _has_words(text: str, wanted: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None


def _refuse(one: Proposal, name: FilterName, code: str, reason: str) -> Refusal:
    return Refusal(id=one.id, filter=name, code=code, reason=reason[:300], instruction=one.proposed_task[:300])
