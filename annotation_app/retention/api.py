"""HTTP routes of retention, for admins."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.http_api import SessionAuth
from annotation_app.retention import selectors, services
from annotation_app.retention.schemas import RetentionPage, RuleIn, RuleOut

router = Router(tags=["retention"], auth=TOKEN_OR_SESSION_AUTH)
RuleId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/retention", response=RetentionPage)
def retention_get(request: HttpRequest) -> RetentionPage:
    """Every rule, the result of its last preview, and what it has deleted."""
    return selectors.retention_page(user=user_of(request))


@router.post("/retention/rules", response={201: RuleOut})
def rule_make(request: HttpRequest, body: RuleIn) -> Status[RuleOut]:
    """Create a rule, switched off."""
    return Status(201, selectors.rule_out(services.rule_make(user=user_of(request), wanted=body)))


@router.post("/retention/rules/{rule_id}/preview", response=RuleOut)
def rule_preview(request: HttpRequest, rule_id: RuleId) -> RuleOut:
    """Count what the rule would delete now. Nothing is deleted."""
    return selectors.rule_out(services.rule_preview(user=user_of(request), rule_id=rule_id))


@router.post("/retention/rules/{rule_id}/active", response=RuleOut, auth=SessionAuth())
def rule_on(request: HttpRequest, rule_id: RuleId) -> RuleOut:
    """Switch the rule on. It needs a preview first. Tokens cannot do it, because the rule deletes permanently."""
    return selectors.rule_out(services.rule_switch(user=user_of(request), rule_id=rule_id, active=True))


@router.delete("/retention/rules/{rule_id}/active", response=RuleOut)
def rule_off(request: HttpRequest, rule_id: RuleId) -> RuleOut:
    """Switch the rule off."""
    return selectors.rule_out(services.rule_switch(user=user_of(request), rule_id=rule_id, active=False))


@router.delete("/retention/rules/{rule_id}", response={204: None})
def rule_delete(request: HttpRequest, rule_id: RuleId) -> Status[None]:
    """Delete the rule."""
    services.rule_delete(user=user_of(request), rule_id=rule_id)
    return Status(204, None)
