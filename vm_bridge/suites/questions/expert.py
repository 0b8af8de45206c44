"""The scripted expert of a question: searches for what a condition may mean, reads the results, follows the links."""

from typing import Any

from protocol.actions.types import Action, Click, Finish, Point, PressKeys, Scroll, TypeText
from vm_bridge.browser import ScriptFailed, Session
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.questions.composer import Question
from vm_bridge.suites.questions.filters import search_for
from vm_bridge.suites.questions.wiki import Wiki

STATE_SCRIPT = """(() => {
  const at = {};
  for (const one of document.querySelectorAll("[data-at]")) {
    const box = one.getBoundingClientRect();
    const x = Math.round(box.x + Math.min(box.width, 60) / 2), y = Math.round(box.y + box.height / 2);
    at[one.dataset.at] ??= { x, y, read: one.className === "seen", shown: y > 0 && y < innerHeight };
  }
  const words = document.querySelector("[data-at=words]");
  return { path: location.pathname, at, words: words.value, focused: document.activeElement === words,
           results: [...document.querySelectorAll("main li [data-at]")].map((one) => one.dataset.at),
           middle: { x: Math.round(innerWidth / 2), y: Math.round(innerHeight / 2) } };
})()"""


async def suggest_action(wiki: Wiki, question: Question, session: Session) -> ExpertSuggestion:
    """What to do next on the page that is open. Raises ScriptFailed."""
    state: Any = await session.evaluate(STATE_SCRIPT, world="own")
    if not isinstance(state, dict) or "at" not in state:
        raise ScriptFailed("no page of the wiki is open")
    way = [hop.entity for hop in question.hops]
    room, _, name = state["path"].strip("/").partition("/")
    if room == "page" and name in way:
        place = way.index(name)
        if place == len(way) - 1:
            return _say(f"The page answers the question: {question.answer}.", Finish(answer=question.answer))
        title = wiki.entities[way[place + 1]].title
        return _click(state, way[place + 1], f"From here the way leads to {title}.")
    if room == "page" and "results" in state["at"]:
        return _click(state, "results", "This page does not fit the question. I go back to the results.")
    words = search_for(wiki, question)
    if words is None:
        raise ScriptFailed("the expert knows no words to search for")
    if room != "search" or state["words"] != words:
        return _search(state, words)
    kind = question.kind
    unread = [one for one in state["results"] if one.startswith(f"{kind}-") and not state["at"][one]["read"]]
    if unread := [one for one in unread if fits_own_facts(wiki, question, one)]:
        wanted = unread[0]
        return _click(state, wanted, f"I read about {wiki.entities[wanted].title}, which may fit.")
    return _click(state, "next", "None of these fits. I look at the next results.")


def fits_own_facts(wiki: Wiki, question: Question, entity_id: str) -> bool:
    """Whether what the results say of a page satisfies every condition on the page itself."""
    entity = wiki.entities[entity_id]
    return all(one.holds_for(wiki, entity) for one in question.conditions if not one.relation)


def _search(state: Any, words: str) -> ExpertSuggestion:
    if not state["focused"]:
        return _click(state, "words", f"I search for pages about “{words}”.")
    if state["words"]:
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
