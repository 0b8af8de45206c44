"""The tables of an episode; database triggers refuse changes to stored steps."""

import uuid

from django.conf import settings
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.utils import timezone

import protocol.trajectory.proposals
import protocol.trajectory.steps
import protocol.trajectory.trajectories
from annotation_app.blobs.models import Blob
from annotation_app.fields import DocumentField
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Assignment, Task
from protocol.actions.secrets import SecretRequest, SecretUse
from protocol.actions.tools import Tool
from protocol.base import FrozenModel
from protocol.messages.events import PendingAct, Thinking
from protocol.trajectory.mcp_servers import McpServers
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.proposals import PolicyRef


class EpisodeStateDocument(FrozenModel):
    """What the annotation page shows of an episode in addition to its columns, steps and proposals."""

    capabilities: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    can_undo: bool = False
    undo_blocked: bool = False
    observation: Observation | None = None
    policy: PolicyRef | None = None
    pending: PendingAct | None = None
    memories: tuple[Memory, ...] = ()
    thinking: Thinking = "idle"
    thinking_error: str = ""
    autopilot: bool = False
    takeover: bool = False
    secret_requests: tuple[SecretRequest, ...] = ()
    secrets_confirmed: tuple[SecretUse, ...] = ()
    answer: str = ""
    verdict: Verdict | None = None
    branch_of: protocol.trajectory.trajectories.Branch | None = None
    error: str = ""


class Review(models.TextChoices):
    """A reviewer's decision on a finished episode."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    RETURNED = "returned"
    REJECTED = "rejected"


OPEN_STATUSES = ("warming", "running", "paused", "failed")
"""Statuses in which the task still belongs to its annotator. A failed episode waits until the annotator leaves it."""
UNCATALOGUED = models.Q(status__in=("finished", "left")) & ~models.Q(catalogued=models.F("version"))
"""An ended episode whose catalogue entry is missing or out of date. A partial index holds only these episodes."""


class Episode(models.Model):
    """One attempt at a task. `version` rises by one with every durable event.

    `runner`, `runner_token` and `runner_until` are the lease of the process that drives it. `attended` is true when
    that process holds the annotator's socket. A writer with another token is refused. `machine` is the bridge's lease,
    so that any process can take the machine over.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="episodes")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="episodes")
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="episode")
    policy = models.ForeignKey(PolicyRevision, null=True, on_delete=models.PROTECT, related_name="episodes")
    version = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=8, default="warming")
    outcome = models.CharField(max_length=12, default="", blank=True)
    help_requested = models.BooleanField(default=False)
    desk: DocumentField[EpisodeStateDocument] = DocumentField(EpisodeStateDocument)
    mcp_servers: DocumentField[McpServers | None] = DocumentField(
        McpServers, null=True, editable=False, help_text="Those of the pool when the episode began"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)
    emptied_at = models.DateTimeField(null=True, help_text="When a rule of retention deleted its pictures")
    catalogued = models.IntegerField(default=-1, editable=False, help_text="The version the catalogue shows; -1: none")

    pending = models.OneToOneField("Command", null=True, on_delete=models.PROTECT, related_name="+")

    review = models.CharField(max_length=8, choices=Review.choices, default=Review.PENDING)
    review_reason = models.TextField(blank=True)
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reviewed_at = models.DateTimeField(null=True)

    runner = models.CharField(max_length=200, blank=True)
    runner_token = models.PositiveIntegerField(default=0)
    runner_until = models.DateTimeField(null=True)
    attended = models.BooleanField(default=False)
    machine = models.TextField(blank=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = [
            models.Index(fields=("-created_at", "id"), name="episode_newest"),
            models.Index(fields=("annotator", "status", "-created_at"), name="episode_mine"),
            models.Index(fields=("review", "status"), name="episode_review"),
            models.Index(fields=("runner",), name="episode_runner"),
            models.Index(fields=("finished_at", "id"), condition=models.Q(status="finished"), name="episode_ready"),
            models.Index(fields=("reviewed_at", "id"), condition=models.Q(status="finished"), name="episode_decided"),
            models.Index(fields=("finished_at",), condition=UNCATALOGUED, name="episode_uncatalogued"),
            models.Index(
                fields=("-help_requested", "created_at"),
                condition=models.Q(status__in=OPEN_STATUSES),
                name="episode_open",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Command(models.Model):
    """A command that was accepted once. `intent` is what an act was about to do, stored before the act ran."""

    command_id = models.CharField(max_length=64, unique=True)
    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="commands")
    digest = models.CharField(max_length=64)
    note = models.TextField(blank=True)
    intent = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.command_id


class Step(models.Model):
    """An executed step; rows are never changed. The columns repeat those fields of the document that queries search.
    Fields covered by a unique constraint have no index of their own (410). The same holds for other tables that gain a
    row with every step."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="steps", db_index=False)
    index = models.PositiveIntegerField()
    command_id = models.CharField(max_length=64, unique=True)
    actor = models.CharField(max_length=8)
    decision = models.CharField(max_length=8)
    policy = models.CharField(max_length=130, blank=True, help_text="Whose proposals were there, as in Proposal.policy")
    decide_ms = models.FloatField(null=True, help_text="From the proposals being on screen to the command")
    took_ms = models.FloatField(null=True, help_text="From the act's start to the screen after it")
    document: DocumentField[protocol.trajectory.steps.Step] = DocumentField(protocol.trajectory.steps.Step)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("index",)
        constraints = [models.UniqueConstraint(fields=("episode", "index"), name="step_once")]
        indexes = [
            models.Index(
                fields=("-id",), condition=models.Q(decision__in=("override", "takeover")), name="step_refused"
            ),
            BrinIndex(fields=("created_at",), name="step_when"),
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.index}"


class Undoing(models.Model):
    """Marks a step as taken back. The step itself is never changed."""

    step = models.OneToOneField(Step, on_delete=models.PROTECT, related_name="undoing")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.step} undone"


class LateThought(models.Model):
    """The thought for a step that was executed without one. The step itself is never changed."""

    step = models.OneToOneField(Step, on_delete=models.PROTECT, related_name="late_thought")
    thought = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.step} thought"


class Proposal(models.Model):
    """A candidate that was proposed, kept whatever its outcome. `open`: it can still be accepted."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="proposals", db_index=False)
    key = models.CharField(max_length=64, help_text="The proposal's id on the wire")
    index = models.PositiveIntegerField(help_text="The step it was offered for")
    policy = models.CharField(max_length=130)
    open = models.BooleanField(default=True)
    mark = models.CharField(max_length=16, blank=True)
    latency_ms = models.FloatField(null=True, help_text="From the question to the last token")
    document: DocumentField[protocol.trajectory.proposals.Proposal] = DocumentField(
        protocol.trajectory.proposals.Proposal
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("episode", "key"), name="proposal_once")]
        indexes = [
            models.Index(fields=("episode", "index"), name="proposal_step"),
            BrinIndex(fields=("created_at",), name="proposal_when"),
        ]

    def __str__(self) -> str:
        return self.key


class Branch(models.Model):
    """A state of an episode from which its task is to start over: after the first `steps` steps that were not taken
    back. `open` until an attempt from there is finished."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="branches")
    steps = models.PositiveIntegerField()
    open = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("episode", "steps"), name="branch_once")]

    def __str__(self) -> str:
        return f"{self.episode_id} after {self.steps}"


class SupervisorNote(models.Model):
    """A supervisor's note to the annotator of a running episode, or the record that they took control of it."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="supervisor_notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(blank=True)
    took_control = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.episode_id} by {self.author}"


class Withdrawal(models.Model):
    """The annotator's withdrawal of consent to the use of an episode. From then on no export, dataset or training uses
    it."""

    episode = models.OneToOneField(Episode, primary_key=True, on_delete=models.PROTECT, related_name="withdrawal")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.episode_id} withdrawn"


class PreparedRequest(models.Model):
    """A model request sent ahead of need, about the screen of a twin machine. If it is still `open` and no runner holds
    its token, it was lost with its process."""

    id = models.UUIDField(primary_key=True, editable=False)
    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="prepared_requests", db_index=False)
    runner_token = models.PositiveIntegerField()
    outcome = models.CharField(max_length=9, default="open", help_text="open, used or discarded")
    seconds = models.FloatField(null=True, help_text="How long the request ran")
    input_tokens = models.PositiveIntegerField(null=True, help_text="Of the prompt, where the server said how many")
    output_tokens = models.PositiveIntegerField(null=True, help_text="Of the replies")
    started_at = models.DateTimeField()

    class Meta:
        indexes = [BrinIndex(fields=("started_at",), name="prepared_request_when")]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.outcome}"


class EpisodeBlob(models.Model):
    """Links an episode to a blob that it shows. People who may see the episode may see the blob."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="blobs", db_index=False)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=("episode", "blob"), name="episode_blob_once")]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.blob_id}"


class Source(models.Model):
    """The origin of an imported episode. `head` is its trajectory as received, without steps and proposals. `digest`
    covers the row and its pictures, so that each import happens once."""

    episode = models.OneToOneField(Episode, primary_key=True, on_delete=models.PROTECT, related_name="source")
    digest = models.CharField(max_length=64, unique=True)
    arrival = models.UUIDField(db_index=True, help_text="The import it came with")
    head: DocumentField[protocol.trajectory.trajectories.Trajectory] = DocumentField(
        protocol.trajectory.trajectories.Trajectory
    )

    def __str__(self) -> str:
        return f"{self.episode_id} from elsewhere"
