"""Policy revisions, and what evaluations found of them."""

from django.db import models

import protocol.evaluation.reports
from annotation_app.fields import DocumentField
from protocol.dialects.prompt_template import PromptTemplate


class Provider(models.TextChoices):
    """Who serves a policy."""

    OPENAI_COMPATIBLE = "openai_compatible"
    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GEMINI = "gemini"


class PolicyRevision(models.Model):
    """One revision of a policy behind an OpenAI-compatible server, or at a provider of hosted models."""

    name = models.CharField(max_length=64)
    revision = models.CharField(max_length=64)
    dialect = models.CharField(max_length=64)
    base_url = models.URLField(max_length=500, help_text="Root of the API; of an OpenAI-compatible one, ending in /v1")
    model = models.CharField(max_length=200, help_text="Name the server knows the model by")
    checkpoint = models.CharField(
        max_length=500, blank=True, help_text="Where its weights lie, as the server was told; empty: not known"
    )
    weight_version = models.CharField(
        max_length=200, blank=True, help_text="What its server calls these weights; empty: not known"
    )
    sampling = models.JSONField(default=dict, blank=True, help_text="temperature, top_p, max_tokens, …")
    memory = models.JSONField(
        default=dict,
        blank=True,
        help_text="What it is reminded of: images, stride, tokens, working, episode, note_tokens",
    )
    prompt: DocumentField[PromptTemplate | None] = DocumentField(
        PromptTemplate, null=True, blank=True, help_text="In place of the dialect's own"
    )
    scripted = models.BooleanField(default=False, help_text="No model: answers from a script, and is labelled so")
    teacher = models.BooleanField(
        default=False, help_text="Gives no log-probabilities: it teaches, and is never trained on as the policy's own"
    )
    provider = models.CharField(max_length=20, choices=Provider.choices, default=Provider.OPENAI_COMPATIBLE)
    provider_settings = models.JSONField(
        default=dict, blank=True, help_text="computer_tool, image_edge, image_pixels, prices"
    )
    retired_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when it may not propose any more; empty: it may"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("name", "revision"), name="policy_revision_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.revision}"


class Evaluation(models.Model):
    """A report on a revision, never changed; `kinds` has successes and attempts by kind of task, as it is searched."""

    revision = models.ForeignKey(PolicyRevision, on_delete=models.PROTECT, related_name="evaluations")
    sha256 = models.CharField(max_length=64, help_text="Of the report as canonical JSON")
    document: DocumentField[protocol.evaluation.reports.Evaluation] = DocumentField(
        protocol.evaluation.reports.Evaluation
    )
    kinds = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("revision", "sha256"), name="evaluation_once")]

    def __str__(self) -> str:
        return f"{self.revision} {self.sha256[:12]}"


class ProviderKey(models.Model):
    """The API key for the policies at one origin, encrypted. It is sent there and nowhere else."""

    origin = models.CharField(max_length=300, unique=True, help_text="Scheme, host and port")
    sealed = models.TextField(help_text="The key, encrypted")
    hint = models.CharField(max_length=8, help_text="Its last characters")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("origin",)

    def __str__(self) -> str:
        return self.origin
