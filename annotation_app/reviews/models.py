"""Review data of episodes: claims, decisions, remarks, corrections, cuts, and jobs."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

import protocol.actions.types
import protocol.trajectory.segments
import protocol.trajectory.speech
import protocol.trajectory.variants
from annotation_app.episodes.models import Episode
from annotation_app.fields import DocumentField
from annotation_app.policies.models import PolicyRevision
from annotation_app.reviews.schemas import CheckReport
from annotation_app.tasks.models import Pool, Task
from protocol.trajectory.reviews import STEP_VERDICTS


class Claim(models.Model):
    """A reviewer's claim on an episode, valid until `until`. Meanwhile no other reviewer may write to its review."""

    episode = models.OneToOneField(Episode, on_delete=models.PROTECT, related_name="claim")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.episode_id} by {self.reviewer}"


class Decision(models.TextChoices):
    """How a round ended."""

    ACCEPT = "accept"
    RETURN = "return"
    REJECT = "reject"


class Round(models.Model):
    """One decision on an episode; what was sent back may come again, and is decided once more."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="rounds")
    number = models.PositiveSmallIntegerField()
    decision = models.CharField(max_length=6, choices=Decision.choices)
    reason = models.TextField(blank=True)
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=("episode", "number"), name="round_once")]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.number}"


class Opinion(models.Model):
    """What one of two independent reviewers, or who adjudicates between them, would decide. It is bound to the round
    that it led to, and open until then."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="opinions")
    round = models.ForeignKey(Round, null=True, on_delete=models.PROTECT, related_name="opinions")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decision = models.CharField(max_length=6, choices=Decision.choices)
    reason = models.TextField(blank=True)
    thoughts: DocumentField[protocol.trajectory.speech.Thoughts | None] = DocumentField(
        protocol.trajectory.speech.Thoughts, null=True, help_text="Of a recorded session, as this reviewer left them"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=("episode", "reviewer"), condition=Q(round__isnull=True), name="opinion_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.decision}"


class Remark(models.Model):
    """A reviewer's remark on a step in a round. Only each reviewer's last one is kept."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="remarks")
    index = models.PositiveIntegerField()
    round = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=16, blank=True, choices=[(verdict, verdict) for verdict in STEP_VERDICTS])
    comment = models.TextField(blank=True)
    written_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("index", "round", "id")
        constraints = [
            models.UniqueConstraint(fields=("episode", "index", "round", "reviewer"), name="remark_once"),
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.index} {self.verdict}"


class Fix(models.Model):
    """A later revision of a step's thought and action, never changed. The step itself keeps what was executed."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="fixes")
    index = models.PositiveIntegerField()
    revision = models.PositiveSmallIntegerField(help_text="The executed step is revision 0")
    thought = models.TextField(blank=True)
    action: DocumentField[protocol.actions.types.Action] = DocumentField(protocol.actions.types.Action)
    reason = models.TextField(blank=True)
    round = models.PositiveSmallIntegerField(help_text="In which round of reviewing it was made")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("index", "revision")
        constraints = [models.UniqueConstraint(fields=("episode", "index", "revision"), name="fix_once")]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.index} {self.revision}"


class EditKind(models.TextChoices):
    """What a revision of the thoughts of a recorded session changed."""

    WRITE = "write"
    SPLIT = "split"
    MERGE = "merge"
    ASSIGN = "assign"
    RESTORE = "restore"
    REFINE = "refine"


class ThoughtRevision(models.Model):
    """The thoughts of a recorded session from this revision on; the one before it comes back by undoing. Revision 0 is
    what the import made of the words."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="thought_revisions")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=EditKind.choices)
    thought = models.PositiveIntegerField(help_text="Which thought; of restored ones, which revision")
    thoughts: DocumentField[protocol.trajectory.speech.Thoughts] = DocumentField(protocol.trajectory.speech.Thoughts)
    round = models.PositiveSmallIntegerField(help_text="In which round of reviewing it was made")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=("episode", "number"), name="thought_revision_once")]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.number}"


class VariantStatus(models.TextChoices):
    """The state of a variant of a thought. abstained: the model wrote none that keeps the facts."""

    PROPOSED = "proposed"
    CHOSEN = "chosen"
    REJECTED = "rejected"
    ABSTAINED = "abstained"


class ThoughtVariant(models.Model):
    """Another text of one thought of a recorded session, by a model. It never takes the thought's place."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="thought_variants")
    kind = models.CharField(max_length=11, choices=[(kind, kind) for kind in ("enriched", "diversified")])
    first_word = models.PositiveIntegerField()
    last_word = models.PositiveIntegerField()
    step = models.PositiveIntegerField(help_text="The step whose thought holds it")
    index = models.PositiveSmallIntegerField(help_text="Counts the variants of a kind that one thought has")
    original = models.TextField(help_text="What the thought said when it was written")
    sentences: DocumentField[tuple[protocol.trajectory.speech.RefinedText, ...]] = DocumentField(
        tuple[protocol.trajectory.speech.RefinedText, ...]
    )
    dropped: DocumentField[tuple[int, ...]] = DocumentField(
        tuple[int, ...], default=(), help_text="Sentences that a reviewer left out, by their place"
    )
    problem = models.TextField(blank=True, help_text="Why there is none")
    policy = models.ForeignKey(PolicyRevision, on_delete=models.PROTECT, related_name="+")
    prompt_sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=9, choices=VariantStatus.choices, default=VariantStatus.PROPOSED)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("first_word", "kind", "index", "id")

    def __str__(self) -> str:
        return f"{self.episode_id} {self.kind}-{self.index}"

    @property
    def value(self) -> protocol.trajectory.variants.ThoughtVariant:
        """As exports take it, without the sentences that were left out."""
        return protocol.trajectory.variants.ThoughtVariant(
            kind=self.kind,
            index=self.index,
            words=(self.first_word, self.last_word),
            step=self.step,
            original=self.original,
            sentences=tuple(one for place, one in enumerate(self.sentences) if place not in self.dropped),
            model=str(self.policy),
            prompt_sha256=self.prompt_sha256,
        )


class Cut(models.Model):
    """Which parts of an episode count from this revision on: a view, and the one before it comes back by undoing."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="cuts")
    revision = models.PositiveSmallIntegerField()
    segments: DocumentField[protocol.trajectory.segments.Segments] = DocumentField(
        protocol.trajectory.segments.Segments
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("revision",)
        constraints = [models.UniqueConstraint(fields=("episode", "revision"), name="cut_once")]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.revision}"


class Adjudication(models.Model):
    """Which of several attempts at a task counts, by whose word; a later one stands over an earlier one."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="adjudications")
    chosen = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    adjudicator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.task_id}: {self.chosen_id}"


class JobKind(models.TextChoices):
    """check: an episode's acts are done again in a fresh sandbox; duplicates: a pool is searched for likenesses. Of a
    recorded session's thoughts a model writes: refinement, readable ones; enriched, what is visible beside them;
    diversified, other wordings."""

    CHECK = "check"
    DUPLICATES = "duplicates"
    REFINEMENT = "refinement"
    ENRICHED = "enriched"
    DIVERSIFIED = "diversified"


WRITING_KINDS = (JobKind.REFINEMENT, JobKind.ENRICHED, JobKind.DIVERSIFIED)
"""Jobs in which a model writes texts of a session's thoughts."""


class JobState(models.TextChoices):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)


class Batch(models.Model):
    """Many sessions whose thoughts a model is to write, one after the other: a `Job` each. One worker has it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=11, choices=[(kind.value, kind.label) for kind in WRITING_KINDS])
    policy = models.ForeignKey(PolicyRevision, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=9, choices=JobState.choices, default=JobState.QUEUED)
    error = models.TextField(blank=True)
    left_out = models.PositiveIntegerField(default=0, help_text="Chosen episodes that are no session, or under way")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker began it since it was started")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    heard_at = models.DateTimeField(default=timezone.now, help_text="When it was queued, or its worker lived last")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return str(self.id)


class Job(models.Model):
    """Something asked for that takes its time: about one episode, or about one pool."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=11, choices=JobKind.choices)
    batch = models.ForeignKey(Batch, null=True, on_delete=models.PROTECT, related_name="jobs")
    episode = models.ForeignKey(Episode, null=True, on_delete=models.PROTECT, related_name="checks")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=9, choices=JobState.choices, default=JobState.QUEUED)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    report: DocumentField[CheckReport | None] = DocumentField(CheckReport, null=True)
    policy = models.ForeignKey(PolicyRevision, null=True, on_delete=models.PROTECT, related_name="+")
    refined: DocumentField[protocol.trajectory.speech.RefinedThoughts | None] = DocumentField(
        protocol.trajectory.speech.RefinedThoughts, null=True, help_text="Of a refinement, as far as it got"
    )
    prompt_sha256 = models.CharField(max_length=64, blank=True, help_text="Of what a model is asked with")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    heard_at = models.DateTimeField(default=timezone.now, help_text="When it was queued, or its worker got further")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("episode", "kind"), condition=Q(status__in=("queued", "running")), name="check_at_a_time"
            ),
            models.UniqueConstraint(
                fields=("pool",), condition=Q(status__in=("queued", "running")), name="duplicates_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(
                    kind__in=("check", "refinement", "enriched", "diversified"),
                    episode__isnull=False,
                    pool__isnull=True,
                )
                | Q(kind="duplicates", episode__isnull=True, pool__isnull=False),
                name="job_about_one",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Duplicate(models.Model):
    """Two episodes of a pool that are nearly the same, as its last look found; `one` is the older."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+")
    one = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="+")
    other = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="+")
    text = models.FloatField(help_text="Share of what is said that both say")
    screens = models.FloatField(null=True, help_text="Share of frames that look alike, place by place")
    found_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-text", "id")
        constraints = [models.UniqueConstraint(fields=("one", "other"), name="duplicate_once")]

    def __str__(self) -> str:
        return f"{self.one_id} {self.other_id}"
