"""Schemas of people and their means of access."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from annotation_app.accounts.scopes import SCOPE_PATTERN
from annotation_app.audit.sources import SourceKind
from annotation_app.audit.verbs import Verb
from protocol.base import FrozenModel

RoleName = Literal["annotator", "reviewer", "admin", "researcher"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64, strip_whitespace=True, pattern=r"^[^\x00-\x1f]*$")]
Username = Annotated[str, StringConstraints(min_length=1, max_length=150, pattern=r"^[\w.@+-]+$")]
Skill = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x20,]{1,32}$", to_lower=True, strip_whitespace=True)]
Email = Annotated[str, StringConstraints(max_length=254, pattern=r"^([^@\s\x00]+@[^@\s\x00]+\.[^@\s\x00]+)?$")]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^\x00]*$")]
Code = Annotated[str, StringConstraints(pattern=r"^[0-9 ]{6,12}$")]
Id = Annotated[int, Field(ge=1, le=2**31 - 1)]


def _validate_scope(text: str) -> str:
    if SCOPE_PATTERN.match(text) is None:
        raise ValueError(
            "a scope is AREA:read or AREA:write, such as exports:read, or * for every area; an area is the first part"
            " of an address after /api/"
        )
    return text


Scope = Annotated[str, AfterValidator(_validate_scope)]


class PersonName(FrozenModel):
    """A person to choose; `name` may be empty."""

    username: str
    name: str


class PersonOut(FrozenModel):
    """A person, as admins see them; `pseudonym` is their name in exports."""

    id: int
    username: str
    name: str
    email: str
    roles: tuple[str, ...]
    skills: tuple[str, ...]
    groups: tuple[int, ...]
    active: bool
    two_factor: bool
    last_login: datetime | None
    pseudonym: str


class PersonPage(FrozenModel):
    """A page of people by user name; `next` is the cursor of the following page."""

    items: tuple[PersonOut, ...]
    next: str | None


class PersonIn(FrozenModel):
    """The settings of a person that an admin changes. Omitted fields stay as they are."""

    roles: tuple[RoleName, ...] | None = None
    skills: Annotated[tuple[Skill, ...], Field(max_length=50)] | None = None
    groups: Annotated[tuple[Id, ...], Field(max_length=200)] | None = None
    active: bool | None = None
    name: Name | None = None
    email: Email | None = None


class EraseIn(FrozenModel):
    """The person's user name, as protection against mistakes, and what happens to their work."""

    username: str
    remove_work: bool


class GroupOut(FrozenModel):
    """People who are assigned together."""

    id: int
    name: str
    members: tuple[int, ...]


class GroupIn(FrozenModel):
    """A group's name and all of its members."""

    name: Name
    members: Annotated[tuple[Id, ...], Field(max_length=10_000)] = ()


class InvitationIn(FrozenModel):
    """Whom to invite with which roles. With an address, the link is also sent there."""

    email: Email = ""
    roles: Annotated[tuple[RoleName, ...], Field(min_length=1)]
    groups: tuple[Id, ...] = ()
    days: Annotated[int, Field(ge=1, le=30)] = 7


class InvitationOut(FrozenModel):
    """An open invitation."""

    id: int
    email: str
    roles: tuple[str, ...]
    groups: tuple[int, ...]
    invited_by: str
    expires_at: datetime


class InvitationCreated(FrozenModel):
    """The link, which is shown only once, and whether it was sent."""

    invitation: InvitationOut
    link: str
    sent: bool


class InvitationDetails(FrozenModel):
    """What the holder of the link sees."""

    email: str
    roles: tuple[str, ...]
    invited_by: str


class LinkSecret(FrozenModel):
    """The secret at the end of a link."""

    secret: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,100}$")]


class JoinIn(LinkSecret):
    """The account to create with an invitation."""

    username: Username
    name: Name
    password: Password


class SignInOut(FrozenModel):
    """A browser in which a person is signed in; `here` marks the one that sends the request."""

    id: int
    how: str
    agent: str
    address: str
    created_at: datetime
    seen_at: datetime
    here: bool


class TokenOut(FrozenModel):
    """A token of a program."""

    id: int
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None


class SecurityOut(FrozenModel):
    """A person's own means of access."""

    two_factor: bool
    recovery_codes_left: int
    sign_ins: tuple[SignInOut, ...]
    tokens: tuple[TokenOut, ...]
    password: bool
    """Whether they have a password. People who came by single sign-on may have none."""


class TokenIn(FrozenModel):
    """A token's program, scopes and lifetime."""

    name: Name
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1, max_length=20)]
    days: Annotated[int, Field(ge=1, le=365)] = 90


class TokenCreated(FrozenModel):
    """A token, shown only once."""

    token: str
    shown: TokenOut


class FactorSetup(FrozenModel):
    """What an authenticator app needs: the key, and the same key as an address and as a picture (SVG)."""

    secret: str
    address: str
    picture: str


class CodeIn(FrozenModel):
    """The code that the authenticator app shows now."""

    code: Code


class ReauthenticationIn(FrozenModel):
    """Proof of identity: the password, or a code of the second factor if the person has no password."""

    password: Annotated[str, StringConstraints(max_length=1_000)] = ""
    code: Annotated[str, StringConstraints(max_length=20, pattern=r"^[0-9 ]*$")] = ""


class PasswordChangeIn(FrozenModel):
    """The current password and the new one."""

    current: Annotated[str, StringConstraints(max_length=1_000)] = ""
    new: Password


class ForgottenIn(FrozenModel):
    """A user name or an address, for a forgotten password."""

    login: Annotated[str, StringConstraints(min_length=1, max_length=254, pattern=r"^[^\x00]*$")]


class PasswordLinkDetails(FrozenModel):
    """Whose password a link sets."""

    username: str
    name: str


class PasswordResetIn(LinkSecret):
    """A password link's secret and the new password."""

    password: Password


class PasswordLinkCreated(FrozenModel):
    """A link that sets a password, shown only once, and whether it was also sent by mail."""

    link: str
    sent: bool
    expires_at: datetime


class EnvironmentAccess(FrozenModel):
    """The person behind a token that allows playing on machines."""

    username: str


class RecoveryCodes(FrozenModel):
    """Codes that replace the authenticator, each usable once. They are shown only once."""

    codes: tuple[str, ...]


class AuditSource(FrozenModel):
    """How the actor authenticated, or which part of the platform acted (`part`)."""

    kind: SourceKind
    name: str
    """The name of the token, command, job or part; empty for a browser."""


class AuditOut(FrozenModel):
    """One recorded action; `actor` is None if no person acted."""

    id: int
    at: datetime
    actor: str | None
    source: AuditSource | None
    """None in entries of versions that did not record it."""
    verb: str
    subject: str
    """As `kind:id`."""
    subject_name: str
    """The user name of the person whom the entry is about; empty for other subjects."""
    details: str
    """As JSON."""


class AuditPage(FrozenModel):
    """Entries, newest first; `next` is the cursor of the following page."""

    items: tuple[AuditOut, ...]
    next: int | None
    verbs: tuple[Verb, ...]
    """Every verb that is written today, for the filter. Older entries may have others."""
