"""The requests of a key point judge before its verdict: the key points, and a rating of each screen."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protocol.dialects.dialect import ChatMessage
from protocol.evaluation.judge_prompts import success_criteria
from protocol.evaluation.judgements import NoScoreReason
from protocol.evaluation.key_points import (
    RatedScreen,
    build_points_prompt,
    build_rating_prompt,
    build_verdict_prompt,
    choose_screens,
    parse_points,
    parse_rating,
    screens_to_rate,
)
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

PARALLEL_RATINGS = 4
"""Screens that are rated at the same time."""


@dataclass(frozen=True, slots=True)
class KeyPointReply:
    """A model's reply, with the token counts that the server reports."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class KeyPointRequests:
    """Asks for the points and the ratings of one attempt, and counts the tokens."""

    def __init__(self, ask: Callable[[tuple[ChatMessage, ...]], Awaitable[KeyPointReply]]) -> None:
        """`ask` raises what a judge raises."""
        self._ask = ask
        self._slots = asyncio.Semaphore(PARALLEL_RATINGS)
        self.prompt_tokens = self.completion_tokens = 0

    async def verdict_prompt(
        self, trajectory: Trajectory, *, threshold: int, most: int
    ) -> tuple[ChatMessage, ...] | NoScoreReason:
        """The final prompt, or why there is none: no screen exists, or the key points cannot be read.

        Criteria of the task are its points. Raises what `ask` raises.
        """
        screens, task = screens_to_rate(trajectory), trajectory.task
        if not screens or not most:
            return "screen_lost"
        points = success_criteria(task) or parse_points((await self._reply(build_points_prompt(task))).text)
        if not points:
            return "unreadable"
        pending = [asyncio.ensure_future(self._rate(task, points, screen)) for screen in screens]
        try:
            rated = await asyncio.gather(*pending)
        finally:
            for each in pending:
                each.cancel()
        chosen = choose_screens(rated, threshold=threshold, most=most)
        return build_verdict_prompt(trajectory, points, chosen)

    async def _rate(self, task: Task, points: tuple[str, ...], screen: RatedScreen) -> RatedScreen:
        async with self._slots:
            return parse_rating(screen, (await self._reply(build_rating_prompt(task, points, screen))).text)

    async def _reply(self, messages: tuple[ChatMessage, ...]) -> KeyPointReply:
        reply = await self._ask(messages)
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        return reply
