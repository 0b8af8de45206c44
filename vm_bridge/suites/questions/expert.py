"""The scripted expert of a question: searches for what a condition may mean, reads the results, follows the links."""

from typing import Any

from protocol.actions.types import Action, Click, Finish, NavigateBack, Point, PressKeys, Scroll, TypeText
from vm_bridge.browser import ScriptFailed, Session
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.questions.composer import Question
from vm_bridge.suites.questions.filters import searches_for
from vm_bridge.suites.questions.schema import Entity
from vm_bridge.suites.questions.wiki import Wiki

STATE_SCRIPT = """(() => {
  const at = {};
  for (const one of document.querySelectorAll("[data-at]")) {
    const box = one.getBoundingClientRect();
    const x = Math.round(box.x + Math.min(box.width, 60) / 2), y = Math.round(box.y + box.height / 2);
    at[one.dataset.at] ??= { x, y, shown: y > 0 && y < innerHeight };
  }
  const words = document.querySelector("[data-at=words]");
  return { path: location.pathname, at, words: words.value, focused: document.activeElement === words,
           selected: words.value !== "" && words.selectionEnd - words.selectionStart === words.value.length,
           read: document.body.dataset.read.split(" "),
           results: [...document.querySelectorAll("main li [data-at]")].map((one) => one.dataset.at),
           middle: { x: Math.round(innerWidth / 2), y: Math.round(innerHeight / 2) } };
})()"""


async def suggest_action(wiki: Wiki, question: Question, session: Session) -> ExpertSuggestion:
    """What to do next on the page that is open. Raises ScriptFailed."""
    state: Any = await session.evaluate(STATE_SCRIPT, world="own")
    if not isinstance(state, dict) or "at" not in state:
        raise ScriptFailed("no page of the wiki is open")
    room, _, name = state["path"].strip("/").partition("/")
    if room == "page" and name in wiki.entities:
        return _read_page(wiki, question, state, wiki.entities[name])
    searches = searches_for(question)
    if room != "search" or state["words"] not in searches:
        return _search(state, searches[0])
    read = frozenset(state["read"])
    for one in state["results"]:
        entity = wiki.entities[one]
        if is_candidate(wiki, question, entity) and (
            fits(wiki, question, entity) or unread_about(question, entity, read)
        ):
            return _click(state, one, f"I read about {entity.title}, which may fit.")
    if "next" in state["at"]:
        return _click(state, "next", "None of these fits. I look at the next results.")
    following = searches.index(state["words"]) + 1
    if following == len(searches):
        raise ScriptFailed("the expert has searched for every word that may be meant")
    return _search(state, searches[following])


def _read_page(wiki: Wiki, question: Question, state: Any, entity: Entity) -> ExpertSuggestion:
    way, read = [hop.entity for hop in question.hops], frozenset(state["read"])
    place = way.index(entity.id) if entity.id in way else None
    if place is not None and place == len(way) - 1:
        return _say(f"The page answers the question: {question.answer}.", Finish(answer=question.answer))
    unread = [one for one in unread_about(question, entity, read) if one != entity.id]
    if unread and (place == 0 or (place is None and is_candidate(wiki, question, entity))):
        return _click(state, unread[0], f"Whether it fits depends on {wiki.entities[unread[0]].title}. I look there.")
    if place is not None:
        return _click(state, way[place + 1], f"From here the way leads to {wiki.entities[way[place + 1]].title}.")
    if is_candidate(wiki, question, entity) and "results" in state["at"]:
        return _click(state, "results", f"{entity.title} does not fit the question. I go back to the results.")
    return _say("I have read what I wanted to know here, and go back.", NavigateBack())


def is_candidate(wiki: Wiki, question: Question, entity: Entity) -> bool:
    """Whether what an entity's own page says satisfies every condition about it."""
    own = [one for one in question.conditions if not one.relation]
    return entity.kind == question.kind and all(one.holds_for(wiki, entity) for one in own)


def fits(wiki: Wiki, question: Question, entity: Entity) -> bool:
    """Whether an entity satisfies every condition."""
    return entity.kind == question.kind and all(one.holds_for(wiki, entity) for one in question.conditions)


def unread_about(question: Question, entity: Entity, read: frozenset[str]) -> list[str]:
    """The pages that have to be read to know whether a candidate fits: its own, and those its conditions lead to."""
    if entity.kind != question.kind:
        return []
    needed = dict.fromkeys([entity.id, *(entity.links[one.relation] for one in question.conditions if one.relation)])
    return [one for one in needed if one not in read]


def _search(state: Any, words: str) -> ExpertSuggestion:
    if not state["focused"]:
        return _click(state, "words", f"I search for pages about “{words}”.")
    if state["words"] and not state["selected"]:
        return _say("Other words stand in the field. I select them to type over them.", PressKeys(keys=("ctrl", "a")))
    return _say(f"I type “{words}” and search.", TypeText(text=f"{words}\n"))


def _click(state: Any, target: str, thought: str) -> ExpertSuggestion:
    found, middle = state["at"].get(target), state["middle"]
    if found is None:
        raise ScriptFailed(f"the page has no {target}")
    if not found["shown"]:
        return _say("What I look for is further down.", Scroll(point=Point(**middle), direction="down", amount=3))
    return _say(thought, Click(x=found["x"], y=found["y"]))


def _say(thought: str, action: Action) -> ExpertSuggestion:
    return ExpertSuggestion(thought=thought, action=action)
