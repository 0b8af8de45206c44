"""What is stored of commands and of acts that were begun."""

from uuid import UUID

from annotation_app.episodes.models import Command, Episode


def command_digest(*, episode_id: UUID, command_id: str) -> str | None:
    """The digest under which a command was taken before; the empty one, which fits no command, where another
    episode took it."""
    found = Command.objects.filter(command_id=command_id).first()
    if found is None:
        return None
    return found.digest if found.episode_id == episode_id else ""


def command_intent(*, episode_id: UUID, command_id: str) -> str | None:
    """What an act of this episode intended, as it was stored."""
    found = Command.objects.filter(episode_id=episode_id, command_id=command_id).exclude(intent="")
    return found.values_list("intent", flat=True).first()


def pending_intent(*, episode_id: UUID) -> str | None:
    """The stored intent whose step is not known yet, as it was stored."""
    return (
        Episode.objects.filter(pk=episode_id, pending__isnull=False).values_list("pending__intent", flat=True).first()
    )
