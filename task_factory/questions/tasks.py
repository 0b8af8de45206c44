"""A question as a site task: a search for a word that is meant, links along the way, and the answer."""

import hashlib

from protocol.site_tasks import (
    SITE_TASK,
    AnswerCondition,
    AnswerStep,
    ClickStep,
    ElementRef,
    ScriptStep,
    SiteTask,
    TypeStep,
)
from protocol.trajectory.tasks import Task
from task_factory.questions.pages import Link, WikiPage
from task_factory.questions.records import KeptQuestion, ReliedPage
from task_factory.questions.source import WikiSource
from task_factory.questions.values import facts_of
from task_factory.sites.sources import SiteSource
from vm_bridge.suites.questions.composer import NAME, Question
from vm_bridge.suites.questions.filters import FINDABLE_DEPTH, searches_for

CATEGORY = "questions"
SENTENCE = "{question} Look it up in this wiki, and answer with the {form} alone."


def keep_question(source: WikiSource, site: SiteSource, question: Question, read_at: str) -> KeptQuestion:
    """A question with what it relies on. Its id has a digest of what it asks."""
    digest = hashlib.sha256(f"{site.reference.model_dump_json()}{question.text}".encode()).hexdigest()[:10]
    return KeptQuestion(
        id=f"site_tasks/{CATEGORY}/{site.name}-{digest}",
        site=site.reference,
        url=site.url,
        hosts=site.hosts,
        question=question,
        read_at=read_at,
        pages=tuple(_relied_pages(source, question)),
    )


def make_question_task(source: WikiSource, site: SiteSource, kept: KeptQuestion, field: ElementRef) -> Task:
    """The task of a question; `field` is where one searches. Raises LookupError where no word finds its first page, or
    a page has no link that leads on."""
    question = kept.question
    given = SiteTask(
        site=site.reference,
        size=site.size,
        check=(AnswerCondition(accepted=accepted_answers(question)),),
        script=tuple(_script(source, question, field)),
    )
    form = "name" if question.asked == NAME else "number"
    parameters = {"category": f"site_tasks/{CATEGORY}", SITE_TASK: given.model_dump(mode="json")}
    return Task.model_validate(
        {
            "id": kept.id,
            "instruction": SENTENCE.format(question=question.text, form=form),
            "platform": "browser",
            "name": kept.id,
            "parameters": parameters,
            "network": site.hosts,
        }
    )


def accepted_answers(question: Question) -> tuple[str, ...]:
    """Every form of the answer that is right."""
    forms = [question.answer, *question.aliases]
    if question.answer.isdecimal():
        forms.append(f"{int(question.answer):,}")
    return tuple(dict.fromkeys(forms))


def _relied_pages(source: WikiSource, question: Question) -> list[ReliedPage]:
    labels: dict[str, dict[str, None]] = {hop.entity: {} for hop in question.hops}
    first, last = source.entities[question.hops[0].entity], question.hops[-1].entity
    for hop in question.hops[:-1]:
        labels[hop.entity][hop.relation] = None
    for condition in question.conditions:
        if condition.relation:
            labels[first.id][condition.relation] = None
        about = first.links[condition.relation] if condition.relation else first.id
        labels.setdefault(about, {})[condition.attribute] = None
    if question.asked != NAME:
        labels[last][question.asked] = None
    return [
        ReliedPage(url=url, title=page.title, digest=page.digest, rows={one: rows[one].text for one in wanted})
        for url, wanted in labels.items()
        for page in (source.page(url),)
        for rows in (facts_of(page),)
    ]


def _script(source: WikiSource, question: Question, field: ElementRef) -> list[ScriptStep]:
    first = question.hops[0].entity
    words = next((one for one in searches_for(question) if first in source.search(one, FINDABLE_DEPTH)), None)
    if words is None:
        raise LookupError("no search for a word that is meant finds the first page")
    results = source.search(words, FINDABLE_DEPTH)
    titles = [source.entities[one].title for one in results[: results.index(first)]]
    title = source.entities[first].title
    steps: list[ScriptStep] = [TypeStep(element=field, text=words, enter=True)]
    steps.append(ClickStep(element=ElementRef(role="link", name=title, nth=1 + titles.count(title))))
    for hop in question.hops[:-1]:
        steps.append(ClickStep(element=_link_to(source.page(hop.entity), hop.relation)))
    return [*steps, AnswerStep(text=question.answer)]


def _link_to(page: WikiPage, label: str) -> ElementRef:
    """The link of a row by its words, and by how many links of the same words come before it."""
    (link, *_) = facts_of(page)[label].links
    same = [one for one in page.links if one.text == link.text]
    return ElementRef(role="link", name=link.text, nth=1 + same.index(Link(url=link.url, text=link.text)))
