"""Rewordings of a task by a model: the prompt, the parser, and the run that asks the model server."""

import asyncio
import json
import re
from uuid import UUID

from agent_backend.errors import PolicyError
from agent_backend.policy.completions import RequestTimeouts
from annotation_app.design import services
from annotation_app.design.schemas import WriterServer, WritingPlan
from annotation_app.policies.api_keys import api_key_for
from task_factory.language_models import Message, ServedModel

MAX_REPLY_LENGTH = 40_000
"""Characters of a reply that are read."""
MAX_WORDING_LENGTH = 2_000
"""Characters of an instruction."""
MIN_WORDING_LENGTH = 3
LIST_MARKER = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*•])\s+")
PROMPT_TEMPLATE = """You write tasks for people who work with a computer. Here is a task:

{instruction}

Write {count} other wordings of this very task. What has to be done, every name, number and text in quotes, and the \
language stay the same; length, order, tone and how much is spelled out may differ. Answer with a JSON list of {count} \
strings and nothing else."""


def render_prompt(instruction: str, count: int) -> str:
    """What the model is asked."""
    return PROMPT_TEMPLATE.format(instruction=instruction.strip(), count=count)


def parse_wordings(reply: str, *, instruction: str, count: int) -> tuple[str, ...]:
    """The wordings in a reply, at most `count`: a JSON list, else its lines that are numbered. What is empty, too long,
    said twice, or the instruction itself is left out; so is one without a text that the instruction has in quotes."""
    reply = reply[:MAX_REPLY_LENGTH]
    found: dict[str, str] = {}
    for text in _json_list(reply) or _lines(reply):
        text = " ".join(text.split())
        if _usable(text, instruction):
            found.setdefault(_normalized(text), text)
    return tuple(found.values())[:count]


def _usable(text: str, instruction: str) -> bool:
    return (
        MIN_WORDING_LENGTH <= len(text) <= MAX_WORDING_LENGTH
        and "\x00" not in text
        and _normalized(text) != _normalized(instruction)
        and all(quoted in text for quoted in quoted_texts(instruction))
    )


def quoted_texts(text: str) -> tuple[str, ...]:
    """What stands in quotes."""
    return tuple(re.findall(r"[“\"「]([^”\"」]+)[”\"」]", text))


def _json_list(reply: str) -> list[str]:
    """The first JSON list of strings there is."""
    begin = reply.find("[")
    while begin != -1:
        try:
            value, _ = json.JSONDecoder().raw_decode(reply, begin)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return value
        begin = reply.find("[", begin + 1) if reply.count("[") < 100 else -1
    return []


def _lines(reply: str) -> list[str]:
    return [LIST_MARKER.sub("", line) for line in reply.splitlines() if LIST_MARKER.match(line)]


def _normalized(text: str) -> str:
    """What two wordings that differ in nothing that matters have in common."""
    return re.sub(r"\W+", " ", text).strip().casefold()


REPLY_TIMEOUTS = RequestTimeouts(token=60.0, total=300.0)
"""No annotator waits for it."""
NO_WORDING_MESSAGE = "The model said nothing that is another wording of the task."


def writing_run(*, writing_id: UUID) -> None:
    """Ask for what a queued request is about; any other is left as it is."""
    plan = services.writing_begin(writing_id=writing_id)
    if plan is None:
        return
    try:
        with services.writing_heartbeat(writing_id=writing_id):
            texts = asyncio.run(request_wordings(plan))
    except PolicyError as error:
        services.writing_end(writing_id=writing_id, error=str(error))
        return
    services.writing_end(writing_id=writing_id, texts=texts, error="" if texts else NO_WORDING_MESSAGE)


async def request_wordings(plan: WritingPlan) -> tuple[str, ...]:
    """What the model said that is of use. Raises PolicyError where it does not answer."""
    reply = await ask_writer(plan.server, render_prompt(plan.instruction, plan.count))
    return parse_wordings(reply, instruction=plan.instruction, count=plan.count)


async def ask_writer(server: WriterServer, prompt: str) -> str:
    """The reply of a writer's model; empty where it gives none. Raises PolicyError where it does not answer."""
    model = ServedModel(
        server.base_url,
        server.model,
        api_key=api_key_for(server.base_url),
        temperature=server.temperature,
        max_tokens=server.max_tokens,
        timeouts=REPLY_TIMEOUTS,
    )
    try:
        return await model.complete([Message(role="user", content=prompt)])
    finally:
        await model.aclose()
