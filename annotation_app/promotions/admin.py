"""Gate decisions in Django's admin, read-only."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.promotions.models import GateDecision


@admin.register(GateDecision)
class GateDecisionAdmin(ReadOnlyAdmin):
    list_display = ("pool", "evaluation", "active", "passed", "promoted", "created_at")
    list_filter = ("pool", "passed")
