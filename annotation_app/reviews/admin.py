"""Reviews in Django's admin, read only."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.reviews.models import Adjudication, Job, Opinion, Round


@admin.register(Round)
class RoundAdmin(ReadOnlyAdmin):
    list_display = ("episode", "number", "decision", "reviewer", "decided_at")


@admin.register(Opinion)
class OpinionAdmin(ReadOnlyAdmin):
    list_display = ("episode", "round", "decision", "reviewer", "created_at")


@admin.register(Adjudication)
class AdjudicationAdmin(ReadOnlyAdmin):
    list_display = ("task", "chosen", "adjudicator", "created_at")


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "status", "done", "total", "requested_by", "created_at")
