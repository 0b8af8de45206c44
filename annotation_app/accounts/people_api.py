"""HTTP routes for people: for admins, and for holders of an invitation."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts import selectors, services
from annotation_app.accounts.api import RESET_PATH, SessionOut, session_out
from annotation_app.accounts.schemas import (
    AuditPage,
    EraseIn,
    GroupIn,
    GroupOut,
    InvitationCreated,
    InvitationDetails,
    InvitationIn,
    InvitationOut,
    JoinIn,
    LinkSecret,
    PasswordLinkCreated,
    PersonIn,
    PersonName,
    PersonOut,
    PersonPage,
    RoleName,
)
from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.http_api import ShortText, csrf_required

router = Router(tags=["people"])
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/people", response=PersonPage, auth=TOKEN_OR_SESSION_AUTH)
def people_list(
    request: HttpRequest, search: ShortText = "", role: RoleName | None = None, after: ShortText = ""
) -> PersonPage:
    """All people, by user name."""
    return selectors.people_page(user=user_of(request), search=search, role=role, after=after)


@router.get("/people/names", response=list[PersonName], auth=TOKEN_OR_SESSION_AUTH)
def people_names(request: HttpRequest, search: ShortText = "") -> list[PersonName]:
    """The names of up to fifty people to choose from, for reviewers, researchers and admins."""
    return selectors.people_names(user=user_of(request), search=search)


@router.patch("/people/{user_id}", response=PersonOut)
def person_change(request: HttpRequest, user_id: RowId, body: PersonIn) -> PersonOut:
    """Set a person's roles, skills, groups, and whether they may sign in."""
    return selectors.person_out(
        services.person_change(actor=user_of(request), user_id=user_id, **body.model_dump(exclude_none=True))
    )


@router.post("/people/{user_id}/erase", response={204: None})
def person_erase(request: HttpRequest, user_id: RowId, body: EraseIn) -> Status[None]:
    """Erase a person at their request. This cannot be undone."""
    services.person_erase(actor=user_of(request), user_id=user_id, username=body.username, remove_work=body.remove_work)
    return Status(204, None)


@router.delete("/people/{user_id}/factor", response={204: None})
def person_factor_remove(request: HttpRequest, user_id: RowId) -> Status[None]:
    """Remove a person's second factor, so that they can sign in without a lost authenticator."""
    services.person_factor_remove(actor=user_of(request), user_id=user_id)
    return Status(204, None)


@router.delete("/people/{user_id}/sign-ins", response={204: None})
def person_sign_ins_end(request: HttpRequest, user_id: RowId) -> Status[None]:
    """Sign a person out in every browser."""
    services.person_sign_ins_end(actor=user_of(request), user_id=user_id)
    return Status(204, None)


@router.delete("/people/{user_id}/tokens", response={204: None})
def person_tokens_end(request: HttpRequest, user_id: RowId) -> Status[None]:
    """Revoke all tokens that a person made for programs."""
    services.person_tokens_end(actor=user_of(request), user_id=user_id)
    return Status(204, None)


@router.post("/people/{user_id}/password-link", response=PasswordLinkCreated)
def password_link_make(request: HttpRequest, user_id: RowId) -> PasswordLinkCreated:
    """Make a link with which a person sets a new password. It is shown only once."""
    row, secret = services.password_link_make(request=request, actor=user_of(request), user_id=user_id)
    link = f"{request.build_absolute_uri(RESET_PATH)}#{secret}"
    sent = services.password_link_send(link=row, address=link)
    return PasswordLinkCreated(link=link, sent=sent, expires_at=row.expires_at)


@router.get("/groups", response=list[GroupOut], auth=TOKEN_OR_SESSION_AUTH)
def groups_list(request: HttpRequest) -> list[GroupOut]:
    """All groups with their members."""
    return selectors.groups_list(user=user_of(request))


@router.post("/groups", response=GroupOut)
def group_make(request: HttpRequest, body: GroupIn) -> GroupOut:
    """Create a group."""
    return selectors.group_out(
        services.group_save(actor=user_of(request), group_id=None, name=body.name, members=body.members)
    )


@router.put("/groups/{group_id}", response=GroupOut)
def group_change(request: HttpRequest, group_id: RowId, body: GroupIn) -> GroupOut:
    """Change a group's name and members."""
    return selectors.group_out(
        services.group_save(actor=user_of(request), group_id=group_id, name=body.name, members=body.members)
    )


@router.delete("/groups/{group_id}", response={204: None})
def group_end(request: HttpRequest, group_id: RowId) -> Status[None]:
    """Delete a group."""
    services.group_remove(actor=user_of(request), group_id=group_id)
    return Status(204, None)


@router.get("/invitations", response=list[InvitationOut], auth=TOKEN_OR_SESSION_AUTH)
def invitations_list(request: HttpRequest) -> list[InvitationOut]:
    """Open invitations."""
    return selectors.invitations_list(user=user_of(request))


@router.post("/invitations", response=InvitationCreated)
def invitation_make(request: HttpRequest, body: InvitationIn) -> InvitationCreated:
    """Invite a person. The link is shown only once."""
    invitation, secret = services.invitation_make(
        actor=user_of(request), email=body.email, roles=body.roles, groups=body.groups, days=body.days
    )
    link = request.build_absolute_uri(f"/join#{secret}")
    sent = services.invitation_send(invitation=invitation, link=link)
    return InvitationCreated(invitation=selectors.invitation_out(invitation), link=link, sent=sent)


@router.delete("/invitations/{invitation_id}", response={204: None})
def invitation_withdraw(request: HttpRequest, invitation_id: RowId) -> Status[None]:
    """Revoke an invitation."""
    services.invitation_withdraw(actor=user_of(request), invitation_id=invitation_id)
    return Status(204, None)


@router.post("/join/invitation", auth=None, response=InvitationDetails)
def invitation_get(request: HttpRequest, body: LinkSecret) -> InvitationDetails:
    """Who invites whom with which roles. The secret is in the body, because paths are logged and kept in histories."""
    csrf_required(request)
    return selectors.invitation_details(digest=services.digest_secret(body.secret))


@router.post("/join", auth=None, response=SessionOut)
def invitation_accept(request: HttpRequest, body: JoinIn) -> SessionOut:
    """Create the account and sign in."""
    csrf_required(request)
    user = services.invitation_accept(
        secret=body.secret, username=body.username, name=body.name, password=body.password
    )
    services.sign_in(request=request, user=user, how="invite")
    return session_out(request)


@router.get("/audit", response=AuditPage, auth=TOKEN_OR_SESSION_AUTH)
def audit_search(
    request: HttpRequest,
    words: ShortText = "",
    verb: ShortText | None = None,
    subject: ShortText | None = None,
    actor: ShortText | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: Annotated[int, Field(ge=1)] | None = None,
) -> AuditPage:
    """The audit log, newest first. `subject` is `kind:id`, or a kind alone."""
    return selectors.audit_page(
        user=user_of(request),
        words=words,
        verb=verb,
        subject=subject,
        actor=actor,
        since=since,
        until=until,
        before=before,
    )
