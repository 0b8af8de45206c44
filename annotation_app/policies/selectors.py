"""Queries on policy revisions."""

import json
import logging
from urllib.parse import urlsplit

from pydantic import SecretStr

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.encryption import PROVIDER_KEYS_PURPOSE, decrypt_value
from annotation_app.errors import Forbidden
from annotation_app.policies.api_keys import origin_of
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import Evaluation, PolicyRevision, ProviderKey
from annotation_app.policies.models import Provider as ProviderChoice
from protocol.base import FrozenModel
from protocol.dialects.prompt_template import PromptTemplate
from protocol.providers import Provider
from protocol.trajectory.proposals import PolicyRef

logger = logging.getLogger(__name__)


class PolicyServer(FrozenModel):
    """All a policy client needs to ask for `candidates` proposals."""

    ref: PolicyRef
    base_url: str
    model: str
    sampling: str
    """Sampling settings as JSON text: a value that can be compared and hashed."""
    memory: str
    """What it is reminded of, in the same way."""
    candidates: int
    prompt: PromptTemplate | None = None
    """In place of the dialect's own."""
    provider: Provider = "openai_compatible"
    provider_settings: str = "{}"
    """The settings of the provider, in the same way."""
    api_key: SecretStr = SecretStr("")
    """The one entered for its origin; empty where there is none."""
    pool: int | None = None
    """The pool whose budget a provider's model is asked within."""
    budget_limited: bool = False


class Proposer(FrozenModel):
    """Which server answers, and with which model and weights (empty: not known)."""

    server: str
    model: str
    weight_version: str


def policy_of(revision: PolicyRevision) -> PolicyRef:
    """A revision as proposals and the desk name it."""
    return PolicyRef(
        name=revision.name,
        revision=revision.revision,
        dialect=revision.dialect,
        scripted=revision.scripted,
        teacher=revision.teacher,
    )


def policy_ref(revision: PolicyRevision | None) -> PolicyRef | None:
    """The same; None without an active policy."""
    return None if revision is None else policy_of(revision)


def policy_server(
    revision: PolicyRevision | None, *, candidates: int, pool: int | None = None, budget_limited: bool = False
) -> PolicyServer | None:
    """Where a revision is served, and the budget of which pool it is asked within."""
    ref = policy_ref(revision)
    if revision is None or ref is None:
        return None
    return PolicyServer(
        ref=ref,
        base_url=revision.base_url,
        model=revision.model,
        sampling=json.dumps(revision.sampling, sort_keys=True),
        memory=json.dumps(revision.memory, sort_keys=True),
        candidates=candidates,
        prompt=revision.prompt,
        api_key=SecretStr(provider_key_of(revision.base_url)),
        **(
            {}
            if revision.provider == ProviderChoice.OPENAI_COMPATIBLE
            else {
                "provider": revision.provider,
                "provider_settings": json.dumps(revision.provider_settings, sort_keys=True),
                "pool": pool,
                "budget_limited": budget_limited,
            }
        ),
    )


def provider_key_of(base_url: str) -> str:
    """The API key that was entered for a server's origin; empty where there is none, or no present key opens it."""
    stored = ProviderKey.objects.filter(origin=origin_of(base_url)).first()
    if stored is None:
        return ""
    try:
        return decrypt_value(stored.sealed, purpose=PROVIDER_KEYS_PURPOSE)
    except ValueError as error:
        logger.error("the API key of %s cannot be used: %s", stored.origin, error)
        return ""


def key_hints() -> dict[str, str]:
    """The last characters of each API key, by the origin it is for."""
    return dict(ProviderKey.objects.values_list("origin", "hint"))


def proposer_of(ref: PolicyRef | None) -> Proposer | None:
    """Where a policy answers, as the desk shows it; None where nobody proposes, or the scripts of the machine do."""
    found = None if ref is None else PolicyRevision.objects.filter(name=ref.name, revision=ref.revision).first()
    if found is None or found.base_url == EXPERT_URL:
        return None
    return Proposer(server=urlsplit(found.base_url).netloc, model=found.model, weight_version=found.weight_version)


def policies_reader_check(user: User) -> None:
    """Raises Forbidden for who may not read policies, their evaluations and their probes."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)


def policies_admin_check(user: User) -> None:
    """Raises Forbidden for anybody but admins."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Only admins choose the policy that proposes.")


def evaluation_latest(revision: PolicyRevision | None) -> Evaluation | None:
    """The last report on a revision."""
    return None if revision is None else Evaluation.objects.filter(revision=revision).first()


def evaluated_kinds(revision: PolicyRevision | None) -> dict[str, tuple[int, int]]:
    """Successes and attempts of a revision's last report, by kind of task."""
    if revision is None:
        return {}
    found = Evaluation.objects.filter(revision=revision).values_list("kinds", flat=True).first()
    return {kind: (successes, attempts) for kind, (successes, attempts) in (found or {}).items()}


def revision_server(*, name: str, revision: str) -> str | None:
    """The address at which a revision is served; None where there is no such revision."""
    return PolicyRevision.objects.filter(name=name, revision=revision).values_list("base_url", flat=True).first()
