"""Which report a cycle's gate registered, and which cycle registered a report."""

from annotation_app.flywheel.models import Checkpoint, Stage, Turn
from annotation_app.policies.models import Evaluation


def gate_report_id(turn: Turn) -> int | None:
    """The number of the report that a cycle registered; None if it registered none, or it was deleted."""
    stage = Stage.objects.filter(turn=turn, name="register").first()
    result = {} if stage is None else stage.result
    reports = Evaluation.objects.filter(revision=result.get("revision")).order_by("id")
    if "evaluation" in result:  # earlier releases did not store it: theirs is the first report on the revision
        reports = reports.filter(pk=result["evaluation"])
    return reports.values_list("pk", flat=True).first()


def turn_of_report(report: Evaluation) -> Turn | None:
    """The cycle whose gate a report was made for."""
    made = Checkpoint.objects.filter(revision=report.revision_id).select_related("turn__wheel").order_by("id")
    return next((one.turn for one in made if gate_report_id(one.turn) == report.pk), None)
