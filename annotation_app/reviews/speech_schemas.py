"""The timeline of a recorded session, and changes of its thoughts."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from annotation_app.reviews.schemas import JobOut
from protocol.base import FrozenModel
from protocol.trajectory.speech import LoudnessRun, RefinedThought, Relation, Role, ThoughtText

EditWord = Literal["write", "split", "merge", "assign", "restore", "refine"]
Place = Annotated[int, Field(ge=0, le=2**31 - 1)]
MAX_REDACTED_WORDS = 10_000


class WordOut(FrozenModel):
    """A word and when it was said; a redacted one has no text."""

    begin: float
    end: float
    text: str


class ThoughtOut(FrozenModel):
    """A thought with its text, and the places of its words. `written`: by a reviewer, else as it was heard. `step` is
    the step whose thought holds it, `steps` are those that it is about."""

    begin: float
    end: float
    first_word: int
    last_word: int
    role: Role
    relation: Relation | None
    steps: tuple[int, ...]
    text: str
    written: bool
    step: int | None


class TimelineStep(FrozenModel):
    """When a step began and ended (seconds of the session), its thought as reviewers left it, and the element that was
    clicked, in words; empty where the program did not tell."""

    index: int
    begin: float
    end: float
    thought: str
    element: str = ""


class ThoughtRevisionOut(FrozenModel):
    """A change of the thoughts: of which thought, or to which revision they were restored."""

    number: int
    kind: EditWord
    thought: int
    author: str
    created_at: datetime
    undone: bool


class SpeechOut(FrozenModel):
    """What was said in a recorded session and when, in seconds of the session (`duration`). `levels` are empty where
    no voice was recorded, or by an older recorder. `revision` is the one that holds; 0: what came in."""

    duration: float
    levels: tuple[LoudnessRun, ...]
    words: tuple[WordOut, ...]
    thoughts: tuple[ThoughtOut, ...]
    steps: tuple[TimelineStep, ...]
    revision: int
    revisions: tuple[ThoughtRevisionOut, ...]
    may_edit: bool


class ThoughtEditIn(FrozenModel):
    """A change of a thought over a revision (`base`). write: it says `text`, or its words where that is null; split:
    the second part begins with `word`; merge: with the next one; assign: it is about `steps`; restore: all are as in
    `revision`; undo: as before the last change."""

    base: Place
    do: Literal["write", "split", "merge", "assign", "restore", "undo"]
    thought: Place = 0
    text: ThoughtText | None = None
    word: Place = 0
    steps: Annotated[tuple[Place, ...], Field(max_length=1_000)] = ()
    revision: Place = 0


class RedactionIn(FrozenModel):
    """The words to remove for good, by their place."""

    words: Annotated[tuple[Place, ...], Field(min_length=1, max_length=MAX_REDACTED_WORDS)]


class RefiningModel(FrozenModel):
    """A revision of a policy that can refine."""

    id: int
    label: str


class RefinementOut(FrozenModel):
    """The last refinement of a session's thoughts: how it stands, by which model (`policy`), and what it wrote so far;
    and the models there are."""

    job: JobOut | None
    policy: int | None
    models: tuple[RefiningModel, ...]
    thoughts: tuple[RefinedThought, ...]


class RefinementIn(FrozenModel):
    """Which revision of a policy refines."""

    policy: Annotated[int, Field(ge=1, le=2**31 - 1)]


class AcceptedSentences(FrozenModel):
    """Of a refined thought the sentences to take, by their place."""

    thought: Place
    sentences: Annotated[tuple[Place, ...], Field(min_length=1, max_length=100)]


class RefinementAcceptIn(FrozenModel):
    """What is taken of the last refinement, over a revision of the thoughts (`base`)."""

    base: Place
    thoughts: Annotated[tuple[AcceptedSentences, ...], Field(min_length=1, max_length=10_000)]
