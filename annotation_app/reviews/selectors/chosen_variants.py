"""The variants of recorded thoughts that exports take."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from annotation_app.reviews.models import ThoughtVariant, VariantStatus
from protocol.trajectory.variants import ThoughtVariant as VariantValue
from protocol.trajectory.variants import VariantKind


def chosen_variants(episodes: Iterable[UUID], kinds: Iterable[VariantKind]) -> dict[UUID, tuple[VariantValue, ...]]:
    """The variants of these episodes that reviewers chose, in one query."""
    found: defaultdict[UUID, list[VariantValue]] = defaultdict(list)
    rows = ThoughtVariant.objects.select_related("policy").filter(
        episode__in=tuple(episodes), kind__in=tuple(kinds), status=VariantStatus.CHOSEN
    )
    for row in rows:
        found[row.episode_id].append(row.value)
    return {episode: tuple(variants) for episode, variants in found.items()}
