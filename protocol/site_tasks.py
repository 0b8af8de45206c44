"""A task on a web site as data: where it begins, which elements its script uses, and what must be true in the end.

Nothing of it is code: a script is a list of steps, a check a list of conditions, and both name elements by role and
name as a person would.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from protocol.actions.inputs import Key
from protocol.base import FrozenModel
from protocol.trajectory.tasks import Language, ScreenSize, Task

SITE_TASK = "site_task"
"""The parameter of a task that holds a `SiteTask`."""
MAX_STEPS, MAX_CONDITIONS, MAX_PATH = 40, 20, 12

Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Name = Annotated[str, StringConstraints(max_length=200)]


class ElementRef(FrozenModel):
    """An element by what a person calls it."""

    role: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    """ARIA's word: button, link, textbox, checkbox, switch, tab, option, …"""
    name: Name
    """Its accessible name, word for word."""
    nth: int = Field(default=1, ge=1, le=200)
    """Which of several of this role and name, in the page's order."""


class ClickStep(FrozenModel):
    """Click an element."""

    kind: Literal["click"] = "click"
    element: ElementRef


class TypeStep(FrozenModel):
    """Put a text in the place of what is in a field; with `enter` press Enter after it."""

    kind: Literal["type"] = "type"
    element: ElementRef
    text: Text
    enter: bool = False


class DragStep(FrozenModel):
    """Drag an element onto another one."""

    kind: Literal["drag"] = "drag"
    element: ElementRef
    to: ElementRef


class PressStep(FrozenModel):
    """Press keys together."""

    kind: Literal["press"] = "press"
    keys: Annotated[tuple[Key, ...], Field(min_length=1, max_length=4)]


class BackStep(FrozenModel):
    """Go back to the page before."""

    kind: Literal["back"] = "back"


class AnswerStep(FrozenModel):
    """End with an answer. The last step of a script."""

    kind: Literal["answer"] = "answer"
    text: Text


ScriptStep = Annotated[ClickStep | TypeStep | DragStep | PressStep | BackStep | AnswerStep, Field(discriminator="kind")]


class UrlCondition(FrozenModel):
    """The address of the open page. `path` and `fragment` are compared decoded."""

    kind: Literal["url"] = "url"
    part: Literal["path", "query", "fragment"] = "path"
    equals: str | None = None
    contains: str | None = None


class TextCondition(FrozenModel):
    """The page shows a text, or does not. White space counts as one space."""

    kind: Literal["text"] = "text"
    contains: Text
    present: bool = True


class ElementCondition(FrozenModel):
    """An element is there, is not, or stands in some way."""

    kind: Literal["element"] = "element"
    element: ElementRef
    state: Literal[
        "present",
        "absent",
        "checked",
        "unchecked",
        "pressed",
        "not_pressed",
        "selected",
        "expanded",
        "disabled",
        "value",
    ] = "present"
    value: str | None = None
    """For `value`: what the field holds."""


class Where(FrozenModel):
    """The first item of a list with these fields."""

    where: dict[Name, str | int | float | bool | None] = Field(min_length=1, max_length=6)


class StateCondition(FrozenModel):
    """A value in the state that a bundled site tells of itself (`state()`)."""

    kind: Literal["state"] = "state"
    path: Annotated[tuple[Name | int | Where, ...], Field(min_length=1, max_length=MAX_PATH)]
    """Keys, places (from 0) and items of lists."""
    equals: str | int | float | bool | None = None
    length: int | None = Field(default=None, ge=0)
    """How many items the list has, in the place of `equals`."""


class AnswerCondition(FrozenModel):
    """The answer given is one of these; case, white space and a full stop at the end do not count."""

    kind: Literal["answer"] = "answer"
    accepted: Annotated[tuple[Text, ...], Field(min_length=1, max_length=20)]


Condition = Annotated[
    UrlCondition | TextCondition | ElementCondition | StateCondition | AnswerCondition, Field(discriminator="kind")
]


class BundledSite(FrozenModel):
    """A site that comes with the bridge, in one of its worlds. The world is the site's, not the attempt's: a rollout
    that counts a task's seed up meets the same one."""

    kind: Literal["bundled"] = "bundled"
    name: Name
    seed: int = Field(default=0, ge=0)
    level: int = Field(default=1, ge=1)
    language: Language = "en"


class LiveSite(FrozenModel):
    """A site of a network. Its hosts stand in `Task.network` too."""

    kind: Literal["live"] = "live"
    url: Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2_000)]


class ZimSite(FrozenModel):
    """A ZIM file in the bridge's folder of them (`PILOTHOUSE_ZIM_FOLDER`)."""

    kind: Literal["zim"] = "zim"
    file: Annotated[str, StringConstraints(pattern=r"^[^/\\\x00-\x1f]+\.zim$", max_length=200)]
    """Its name."""
    uuid: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    """Of its header: another edition has another one."""


Site = Annotated[BundledSite | LiveSite | ZimSite, Field(discriminator="kind")]


class SiteTask(FrozenModel):
    """What a browser machine needs to play and judge a task on a site; travels as `parameters["site_task"]`."""

    site: Site
    size: ScreenSize = (1024, 768)
    check: Annotated[tuple[Condition, ...], Field(max_length=MAX_CONDITIONS)] = ()
    """All must hold. None: nothing but a judge that reads `success_criteria` can say."""
    script: Annotated[tuple[ScriptStep, ...], Field(max_length=MAX_STEPS)] = ()
    marks: Annotated[tuple[str, ...], Field(max_length=MAX_STEPS + 1)] = ()
    """Digests of what the page shows before each step and after the last, from the run that proved the script: where
    an episode shows one of them, the script says what comes next."""


def find_site_task(task: Task) -> SiteTask | None:
    """The site task that a task carries; None where it carries none. Raises ValidationError."""
    given = task.parameters.get(SITE_TASK)
    return None if given is None else SiteTask.model_validate(given)


def needs_answer(conditions: tuple[Condition, ...]) -> bool:
    """Whether a check looks at the answer, so that nothing but an answer ends the task."""
    return any(isinstance(one, AnswerCondition) for one in conditions)
