"""Asks a model for the task drafts of a request, cell by cell, and keeps what is of use."""

import asyncio
from uuid import UUID

from agent_backend.errors import PolicyError
from annotation_app.design import services
from annotation_app.design.draft_replies import Topic, parse_drafts, render_prompt
from annotation_app.design.draft_schemas import DraftPlan
from annotation_app.design.rewording import ask_writer
from task_factory.language_models import Message, prompt_digest

NO_DRAFT_MESSAGE = "None of the replies has a draft that can be used."


def drafting_run(*, request_id: UUID) -> None:
    """Complete a queued request. Any other is left unchanged."""
    plan = services.draft_request_begin(request_id=request_id)
    if plan is None:
        return
    try:
        with services.draft_request_heartbeat(request_id=request_id):
            _write_cells(request_id, plan)
    except PolicyError as error:
        services.draft_request_end(request_id=request_id, error=str(error))
        return
    none = not services.drafts_written(request_id=request_id)
    services.draft_request_end(request_id=request_id, error=NO_DRAFT_MESSAGE if none else "")


def _write_cells(request_id: UUID, plan: DraftPlan) -> None:
    """Ask once a cell and store each reply's drafts at once; stops where the request was cancelled."""
    for cell in plan.cells:
        topic = Topic(
            path=plan.path,
            applications=plan.applications,
            persona=plan.persona,
            language=plan.language,
            known=services.draft_texts_known(request_id=request_id),
        )
        prompt = render_prompt(topic, cell)
        reply = asyncio.run(ask_writer(plan.server, prompt))
        drafts, left_out = parse_drafts(reply, topic, cell)
        digest = prompt_digest([Message(role="user", content=prompt)])
        if not services.draft_cell_store(request_id=request_id, drafts=drafts, left_out=left_out, prompt_sha256=digest):
            return
