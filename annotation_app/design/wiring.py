"""Where requests for wordings meet the model server."""

import asyncio
from uuid import UUID

from agent_backend.errors import PolicyError
from agent_backend.policy.completions import Completions, Waits
from agent_backend.policy.samples import Samples
from annotation_app.design import services
from annotation_app.design.schemas import WritingPlan
from annotation_app.design.wording import question, wordings_read
from annotation_app.policies.api_keys import api_key_for

PATIENCE = Waits(token=60.0, total=300.0)
"""Nobody waits at a desk for it."""
NOTHING = "The model said nothing that is another wording of the task."


def writing_do(*, writing_id: UUID) -> None:
    """Ask for what a queued request is about; any other is left as it is."""
    plan = services.writing_begin(writing_id=writing_id)
    if plan is None:
        return
    try:
        with services.writing_heartbeat(writing_id=writing_id):
            texts = asyncio.run(wordings_ask(plan))
    except PolicyError as error:
        services.writing_end(writing_id=writing_id, error=str(error))
        return
    services.writing_end(writing_id=writing_id, texts=texts, error="" if texts else NOTHING)


async def wordings_ask(plan: WritingPlan) -> tuple[str, ...]:
    """What the model said that is of use. Raises PolicyError where it does not answer."""
    completions = Completions(plan.server.base_url, api_key=api_key_for(plan.server.base_url), waits=PATIENCE)
    try:
        samples = await completions.sample(
            {
                "model": plan.server.model,
                "messages": [{"role": "user", "content": question(plan.instruction, plan.count)}],
                "stream": True,
                "n": 1,
                "temperature": plan.server.temperature,
                "max_tokens": plan.server.max_tokens,
            },
            _unheard,
        )
    finally:
        await completions.aclose()
    replies = samples.finished()
    return wordings_read(replies[0].text, instruction=plan.instruction, count=plan.count) if replies else ()


async def _unheard(_: Samples) -> None:
    """Nobody reads along."""
