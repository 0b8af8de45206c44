"""Pools, their tasks, and the leases on them."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

import protocol.trajectory.tasks
from annotation_app.fields import DocumentField
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.active_hours import ActiveHours
from protocol.trajectory.mcp_servers import McpServers

if TYPE_CHECKING:
    from annotation_app.accounts.models import Group, User


class Sampling(models.TextChoices):
    """How the next task of a pool is chosen."""

    IN_ORDER = "in_order"
    BY_NEED = "by_need"


class ReviewMode(models.TextChoices):
    """Which finished episodes of a pool are to be reviewed."""

    NONE = "none"
    SAMPLE = "sample"
    ALL = "all"


class Pool(models.Model):
    """A set of tasks worked on under the same settings. `version` rises with every change of them, so that nobody
    overwrites what they have not seen. Its people are its members, those of its groups, who have all of its skills, and
    with `open_to_all` every annotator."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    instructions = models.TextField(blank=True, help_text="Guidance for annotators (Markdown)")
    platform = models.CharField(
        max_length=16, default="desktop", choices=[(p, p) for p in ("desktop", "phone", "browser", "terminal")]
    )
    image = models.CharField(max_length=64, default="desktop", help_text="Which machine image the bridge starts")
    policy = models.ForeignKey(PolicyRevision, null=True, blank=True, on_delete=models.PROTECT, related_name="pools")
    canary = models.ForeignKey(
        PolicyRevision,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="tried_in",
        help_text="A newer revision that a share of the episodes tries",
    )
    canary_share = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(100)], help_text="Percent of the episodes that try it"
    )
    gate: DocumentField[Gate | None] = DocumentField(
        Gate, null=True, blank=True, editable=False, help_text="What an evaluation must show"
    )
    sampling = models.CharField(
        max_length=8,
        choices=Sampling.choices,
        default=Sampling.IN_ORDER,
        help_text="by_need: towards tasks where the active revision is overridden or fails",
    )
    candidates = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(16)], help_text="Proposals asked for"
    )
    max_steps = models.PositiveSmallIntegerField(
        default=100, validators=[MinValueValidator(1)], help_text="Most steps of any task of this pool"
    )
    thought_required = models.BooleanField(default=True)
    thought_later = models.BooleanField(default=False, help_text="A required thought may be written after its step")
    text_continuation = models.BooleanField(
        default=False, help_text="The policy continues the thought that an annotator writes"
    )
    policy_budget = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="US dollars that hosted models may cost in it; no bound where empty",
    )
    unattended_safety_checks = models.BooleanField(
        default=False, help_text="The autopilot does what a provider wants a person to check"
    )
    screenshot_format = models.CharField(max_length=4, default="jpeg", choices=[("jpeg", "jpeg"), ("png", "png")])
    record = models.BooleanField(default=True, help_text="Keep a video of every episode")
    speculation = models.BooleanField(
        default=False, help_text="A second machine does the first candidate ahead, so that the next ones come at once"
    )
    takes_recordings = models.BooleanField(
        default=False, help_text="Its people may upload what they recorded on their own computers"
    )
    practice = models.BooleanField(default=False, help_text="Tasks stay available; nothing of it is exported")
    paused = models.BooleanField(default=False)
    lease_minutes = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1)], help_text="An untouched task returns to the pool after this"
    )
    pause_hours = models.PositiveSmallIntegerField(default=8, help_text="How long a paused episode is kept")
    minutes = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Longest time from claiming a task to its end, pauses included",
    )
    overlap = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text="How many people do each task, blind to one another",
    )
    gold_percent = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(100)], help_text="Share of claims that get a task with a known answer"
    )
    review_mode = models.CharField(max_length=6, choices=ReviewMode.choices, default=ReviewMode.ALL)
    review_percent = models.PositiveSmallIntegerField(
        default=10, validators=[MaxValueValidator(100)], help_text="Share that is reviewed in the mode sample"
    )
    reviewers = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(2)],
        help_text="With two, both review an episode blind to each other, and a third decides where they disagree",
    )
    priority = models.SmallIntegerField(default=0, help_text="Tasks of a pool with a higher one come first")
    hours: DocumentField[ActiveHours | None] = DocumentField(
        ActiveHours, null=True, blank=True, editable=False, help_text="When tasks are given out; always where null"
    )
    mcp_servers: DocumentField[McpServers | None] = DocumentField(
        McpServers, null=True, blank=True, editable=False, help_text="MCP servers of every task, by name"
    )
    consent = models.TextField(blank=True, help_text="What people agree to before their first task (Markdown)")
    consent_version = models.PositiveIntegerField(default=1, editable=False)
    stopped_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="Nobody acts in it since")
    stop_reason = models.CharField(max_length=500, blank=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    open_to_all = models.BooleanField(default=False, help_text="Every annotator may take its tasks, first come")
    skills = ArrayField(
        models.CharField(max_length=32), default=list, blank=True, help_text="Who has all of these may take its tasks"
    )
    members: "models.ManyToManyField[User, models.Model]" = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="pools"
    )
    groups: "models.ManyToManyField[Group, models.Model]" = models.ManyToManyField(
        "accounts.Group", blank=True, related_name="pools"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name


class PolicySpending(models.Model):
    """What hosted models have cost in a pool, with what is set aside for requests that are out."""

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, primary_key=True, related_name="policy_spending")
    microdollars = models.BigIntegerField(default=0, help_text="Millionths of a US dollar")

    def __str__(self) -> str:
        return f"{self.pool_id}: {self.microdollars / 1_000_000:.2f} USD"


class TaskState(models.TextChoices):
    """Where a task stands: WAITING while it can be given to somebody, CLAIMED while everybody it is for holds or has
    done it, DONE when as many as its pool's overlap asks for have done it. A WITHDRAWN one is given to nobody."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    BROKEN = "broken"
    WITHDRAWN = "withdrawn"


class Task(models.Model):
    """Something to do; `definition` is what the machine and the policy are given. `held` and `finished` count this
    round's assignments; a task that was reopened begins another. One with `gold`, an episode that shows how it is done
    well, is given to people to see how they do, and never waits."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tasks", db_index=False)  # task_listed is one
    key = models.CharField(max_length=200, help_text="The definition's id, unique in its pool")
    definition: DocumentField[protocol.trajectory.tasks.Task] = DocumentField(protocol.trajectory.tasks.Task)
    state = models.CharField(max_length=9, choices=TaskState.choices, default=TaskState.WAITING)
    position = models.IntegerField(default=0, help_text="Lower comes first")
    kind = models.CharField(max_length=400, default="", help_text="What tasks with other seeds have in common")
    done = models.PositiveIntegerField(default=0, help_text="How often it was done")
    held = models.PositiveSmallIntegerField(default=0, help_text="How many people hold it")
    finished = models.PositiveSmallIntegerField(default=0, help_text="How many people have done it in this round")
    gold = models.ForeignKey(
        "episodes.Episode", null=True, blank=True, on_delete=models.SET_NULL, related_name="gold_of"
    )
    gold_wanted = models.BooleanField(
        default=False, db_default=False, help_text="Its first episode that is accepted becomes the reference"
    )
    reopened_at = models.DateTimeField(null=True, help_text="Since when it is to be done again, by anybody")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("position", "id")
        constraints = [models.UniqueConstraint(fields=("pool", "key"), name="task_once_in_pool")]
        indexes = [
            models.Index(fields=("pool", "position", "id"), condition=Q(state="waiting"), name="task_waiting"),
            models.Index(fields=("pool", "position", "id"), name="task_listed"),
            models.Index(fields=("pool", "state"), name="task_states"),
            models.Index(fields=("pool",), condition=Q(gold__isnull=False), name="task_gold"),
            GinIndex(SearchVector("definition", config="simple"), name="task_words"),
        ]

    def __str__(self) -> str:
        return self.key


class Tally(models.Model):
    """What became of a revision's proposals at one kind of task of a pool, over its ended episodes."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tallies")
    revision = models.ForeignKey(PolicyRevision, on_delete=models.PROTECT, related_name="tallies")
    kind = models.CharField(max_length=400)
    accepted = models.PositiveIntegerField(default=0)
    overridden = models.PositiveIntegerField(default=0)
    succeeded = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("pool", "revision", "kind"), name="tally_once")]

    def __str__(self) -> str:
        return f"{self.revision} at {self.kind}"


class AssignmentState(models.TextChoices):
    """ACTIVE and RETURNED hold the task; a returned one waits for its annotator and does not expire."""

    ACTIVE = "active"
    RETURNED = "returned"
    DONE = "done"
    SKIPPED = "skipped"
    RELEASED = "released"
    EXPIRED = "expired"
    BROKEN = "broken"


class Assignment(models.Model):
    """One person's lease on one task until `expires_at`."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="assignments")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=8, choices=AssignmentState.choices, default=AssignmentState.ACTIVE)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("task", "annotator"), condition=Q(state__in=("active", "returned")), name="task_held_once_each"
            )
        ]
        indexes = [models.Index(fields=("state", "expires_at"), name="assignment_expiry")]

    def __str__(self) -> str:
        return f"{self.task} by {self.annotator}"


class Consent(models.Model):
    """That somebody agreed to this version of a pool's consent text."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="consents")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="consents")
    version = models.PositiveIntegerField()
    text = models.TextField(help_text="What they were shown")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("pool", "annotator", "version"), name="consent_once")]

    def __str__(self) -> str:
        return f"{self.annotator} to {self.pool} {self.version}"


def typing_alone() -> list[str]:
    """The kinds of act that may use a secret unless an admin says otherwise."""
    return ["type_text"]


class Credential(models.Model):
    """A value that tasks of a pool may have typed as `secret:NAME`; kept as `annotation_app.encryption` seals it."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="credentials")
    name = models.CharField(max_length=64)
    sealed = models.TextField(editable=False)
    kinds = ArrayField(models.CharField(max_length=32), default=typing_alone, help_text="Kinds of act that may use it")
    hosts = ArrayField(
        models.CharField(max_length=255), default=list, blank=True, help_text="Where it may be used; empty: anywhere"
    )
    applications = ArrayField(
        models.CharField(max_length=200), default=list, blank=True, help_text="In which it may be used; empty: in any"
    )
    confirm = models.BooleanField(default=True, help_text="A person confirms its use where a policy proposes it")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=("pool", "name"), name="credential_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.pool}"
