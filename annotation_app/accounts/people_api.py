"""People over HTTP: for admins, and for whoever holds an invitation."""

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
    """Who is here, by user name."""
    return selectors.people_page(user=user_of(request), search=search, role=role, after=after)


@router.get("/people/names", response=list[PersonName], auth=TOKEN_OR_SESSION_AUTH)
def people_names(request: HttpRequest, search: ShortText = "") -> list[PersonName]:
    """The names of people to choose from, at most fifty, for reviewers, researchers and admins."""
    return selectors.people_names(user=user_of(request), search=search)


@router.patch("/people/{user_id}", response=PersonOut)
def person_change(request: HttpRequest, user_id: RowId, body: PersonIn) -> PersonOut:
    """Roles, skills, groups, and whether they may sign in."""
    return selectors.person_out(
        services.person_change(actor=user_of(request), user_id=user_id, **body.model_dump(exclude_none=True))
    )


@router.post("/people/{user_id}/erase", response={204: None})
def person_erase(request: HttpRequest, user_id: RowId, body: EraseIn) -> Status[None]:
    """Take somebody out of the database at their request; there is no way back."""
    services.person_erase(actor=user_of(request), user_id=user_id, username=body.username, remove_work=body.remove_work)
    return Status(204, None)


@router.delete("/people/{user_id}/factor", response={204: None})
def person_factor_remove(request: HttpRequest, user_id: RowId) -> Status[None]:
    """Let somebody who lost their authenticator in with their password again."""
    services.person_factor_remove(actor=user_of(request), user_id=user_id)
    return Status(204, None)


@router.delete("/people/{user_id}/sign-ins", response={204: None})
def person_sign_ins_end(request: HttpRequest, user_id: RowId) -> Status[None]:
    """Sign somebody out in every browser."""
    services.person_sign_ins_end(actor=user_of(request), user_id=user_id)
    return Status(204, None)


@router.delete("/people/{user_id}/tokens", response={204: None})
def person_tokens_end(request: HttpRequest, user_id: RowId) -> Status[None]:
    """End every token that somebody made for programs."""
    services.person_tokens_end(actor=user_of(request), user_id=user_id)
    return Status(204, None)


@router.post("/people/{user_id}/password-link", response=PasswordLinkCreated)
def password_link_make(request: HttpRequest, user_id: RowId) -> PasswordLinkCreated:
    """A link with which somebody sets a new password; shown this once."""
    row, secret = services.password_link_make(request=request, actor=user_of(request), user_id=user_id)
    link = f"{request.build_absolute_uri(RESET_PATH)}#{secret}"
    sent = services.password_link_send(link=row, address=link)
    return PasswordLinkCreated(link=link, sent=sent, expires_at=row.expires_at)


@router.get("/groups", response=list[GroupOut], auth=TOKEN_OR_SESSION_AUTH)
def groups_list(request: HttpRequest) -> list[GroupOut]:
    """Groups and who is in them."""
    return selectors.groups_list(user=user_of(request))


@router.post("/groups", response=GroupOut)
def group_make(request: HttpRequest, body: GroupIn) -> GroupOut:
    """A new group."""
    return selectors.group_out(
        services.group_save(actor=user_of(request), group_id=None, name=body.name, members=body.members)
    )


@router.put("/groups/{group_id}", response=GroupOut)
def group_change(request: HttpRequest, group_id: RowId, body: GroupIn) -> GroupOut:
    """Another name, other members."""
    return selectors.group_out(
        services.group_save(actor=user_of(request), group_id=group_id, name=body.name, members=body.members)
    )


@router.delete("/groups/{group_id}", response={204: None})
def group_end(request: HttpRequest, group_id: RowId) -> Status[None]:
    """Break a group up."""
    services.group_remove(actor=user_of(request), group_id=group_id)
    return Status(204, None)


@router.get("/invitations", response=list[InvitationOut], auth=TOKEN_OR_SESSION_AUTH)
def invitations_list(request: HttpRequest) -> list[InvitationOut]:
    """Those nobody has taken up yet."""
    return selectors.invitations_list(user=user_of(request))


@router.post("/invitations", response=InvitationCreated)
def invitation_make(request: HttpRequest, body: InvitationIn) -> InvitationCreated:
    """Invite somebody; the link is shown this once."""
    invitation, secret = services.invitation_make(
        actor=user_of(request), email=body.email, roles=body.roles, groups=body.groups, days=body.days
    )
    link = request.build_absolute_uri(f"/join#{secret}")
    sent = services.invitation_send(invitation=invitation, link=link)
    return InvitationCreated(invitation=selectors.invitation_out(invitation), link=link, sent=sent)


@router.delete("/invitations/{invitation_id}", response={204: None})
def invitation_withdraw(request: HttpRequest, invitation_id: RowId) -> Status[None]:
    """End an invitation."""
    services.invitation_withdraw(actor=user_of(request), invitation_id=invitation_id)
    return Status(204, None)


@router.post("/join/invitation", auth=None, response=InvitationDetails)
def invitation_get(request: HttpRequest, body: LinkSecret) -> InvitationDetails:
    """Who invites whom as what. The secret is in the body: paths are logged and kept in histories."""
    csrf_required(request)
    return selectors.invitation_details(digest=services.digest_secret(body.secret))


@router.post("/join", auth=None, response=SessionOut)
def invitation_accept(request: HttpRequest, body: JoinIn) -> SessionOut:
    """Make the account, and be signed in."""
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
    """Who did what, newest first. `subject` is `kind:id`, or a kind alone."""
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
