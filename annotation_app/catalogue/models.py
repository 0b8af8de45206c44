"""Searchable fields of ended episodes, and saved queries."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from annotation_app.episodes.models import Episode
from annotation_app.tasks.models import Pool


class Entry(models.Model):
    """The index entry of an ended episode. It is rebuilt when the episode's version has changed."""

    episode = models.OneToOneField(Episode, primary_key=True, on_delete=models.CASCADE, related_name="entry")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=400, help_text="The kind of its task, by which it is split")
    words = SearchVectorField()
    decisions = ArrayField(models.CharField(max_length=8), default=list)
    policies = ArrayField(models.CharField(max_length=130), default=list)
    applications = ArrayField(models.CharField(max_length=100), default=list)
    actions = ArrayField(models.CharField(max_length=40), default=list, help_text="Kinds of action that occur in it")
    steps = models.PositiveIntegerField(default=0)
    reward = models.FloatField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            GinIndex(fields=("words",), name="entry_words"),
            GinIndex(fields=("decisions",), name="entry_decisions"),
            GinIndex(fields=("policies",), name="entry_policies"),
            GinIndex(fields=("applications",), name="entry_applications"),
            GinIndex(fields=("actions",), name="entry_actions"),
            models.Index(fields=("-created_at", "-episode"), name="entry_newest"),
            models.Index(fields=("pool", "-created_at", "-episode"), name="entry_pool"),
        ]

    def __str__(self) -> str:
        return str(self.episode_id)


class SavedQuery(models.Model):
    """A query that a person saved under a name. Its address is permanent."""

    name = models.CharField(max_length=100)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="queries")
    query = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name", "id")
        constraints = [models.UniqueConstraint(fields=("owner", "name"), name="query_once")]

    def __str__(self) -> str:
        return self.name
