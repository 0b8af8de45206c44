"""Questions as a suite: a task is a seed and a number of hops, and what judges it is the answer."""

from functools import lru_cache
from random import Random

from pydantic import JsonValue

from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task, task_level
from vm_bridge.browser import Session
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.questions.composer import MAX_HOPS, Question, compose
from vm_bridge.suites.questions.expert import suggest_action
from vm_bridge.suites.questions.filters import first_objection, normalize_answer
from vm_bridge.suites.questions.site import HOST, WikiSite
from vm_bridge.suites.questions.wiki import Wiki, make_wiki
from vm_bridge.suites.web_suite import Scene, TaskProgress

NAME = "questions"
TASK = "wiki"
VERSION = "1.0"
SEEDS_PER_EDITION = 50
"""Seeds whose questions are about the same edition of the wiki."""
MAX_TRIES = 500
"""Questions that are composed until one is kept; half of them are."""
SIZE = (800, 600)
STEPS = 60
KEPT_QUESTIONS = 256


@lru_cache(maxsize=KEPT_QUESTIONS)
def make_kept_question(seed: int, hops: int) -> Question:
    """The question of a seed, which every filter lets pass. Raises ValueError where none was found."""
    wiki, draw = make_wiki(seed // SEEDS_PER_EDITION), Random(f"question-{hops}-{seed}")
    for _ in range(MAX_TRIES):
        question = compose(wiki, draw, hops)
        if first_objection(wiki, question) is None:
            return question
    raise ValueError(f"no question of {hops} hops was kept for the seed {seed}")


class QuestionSuite:
    """Implements `WebSuite`: one task, whose levels are the number of hops."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The task with one hop and the seed 0."""
        return (self.make(TASK),)

    def level_count(self, name: str) -> int:
        """How many levels a task has. Raises UnknownTask."""
        self._check_name(name)
        return MAX_HOPS

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """A question as it is asked; its level is its number of hops. Raises UnknownTask, InvalidAction."""
        self._check_name(name)
        if language != "en" or size not in (None, SIZE):
            raise InvalidAction(f"these questions are in English, on a screen of {SIZE[0]} by {SIZE[1]}")
        if not 1 <= level <= MAX_HOPS:
            raise InvalidAction(f"{TASK} has the levels 1 to {MAX_HOPS}")
        marks = [f"l{level}" if level > 1 else "", f"s{seed}" if seed else ""]
        parameters: dict[str, JsonValue] = {"level": level, "language": language}
        return Task(
            id="-".join([f"{NAME}/{TASK}", *filter(None, marks)]),
            instruction=f"{make_kept_question(seed, level).text} Look it up in this wiki, and answer.",
            platform="browser",
            suite=NAME,
            name=TASK,
            seed=seed,
            parameters=parameters,
            max_steps=STEPS,
        )

    def scene(self, task: Task) -> Scene:
        """The wiki's first page, with nothing searched for yet."""
        return Scene(site=WikiSite(self._wiki(task)), url=f"http://{HOST}/", size=SIZE)

    async def set_up(self, task: Task, session: Session) -> None:
        """Nothing: every page comes as its address says."""

    async def progress(self, task: Task, session: Session) -> TaskProgress:
        """Nothing ends it but an answer."""
        return TaskProgress(level=task_level(task), done=False)

    async def judge(self, task: Task, session: Session, answer: str) -> Verdict:
        """Whether the answer is right."""
        question = self.question(task)
        right = {normalize_answer(one) for one in (question.answer, *question.aliases)}
        given = normalize_answer(answer)
        reason = (
            "no answer was given" if not given else "the answer is right" if given in right else "the answer is wrong"
        )
        success = given in right
        return Verdict(success=success, score=float(success), reason=reason, version=VERSION)

    async def suggest_expert_action(self, task: Task, session: Session) -> ExpertSuggestion | None:
        """The next act of a reader who knows the words that a condition may mean."""
        return await suggest_action(self._wiki(task), self.question(task), session)

    def question(self, task: Task) -> Question:
        """What a task asks, with its answer. Raises UnknownTask."""
        self._check_name(task.name)
        return make_kept_question(task.seed, task_level(task))

    def _wiki(self, task: Task) -> Wiki:
        self._check_name(task.name)
        return make_wiki(task.seed // SEEDS_PER_EDITION)

    def _check_name(self, name: str | None) -> None:
        if name != TASK:
            raise UnknownTask(f"there is no task {name} in the suite {NAME}")
