"""HTTP routes of reports, for people who may see everyone's work."""

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.reports import selectors
from annotation_app.reports.schemas import FirstReplies, Report, ReportQuery
from annotation_app.spreadsheets import spreadsheet_response

router = Router(tags=["reports"], auth=TOKEN_OR_SESSION_AUTH)


@router.get("/report", response=Report)
def report_get(request: HttpRequest, query: Query[ReportQuery]) -> Report:
    """The report on the work of these days."""
    return selectors.build_report(user=user_of(request), query=query)


@router.get("/first-replies", response=list[FirstReplies])
def first_replies(request: HttpRequest) -> list[FirstReplies]:
    """Whether the first replies of proposing revisions use the coordinate space of their dialect."""
    return list(selectors.first_replies(user=user_of(request)))


@router.get("/report.csv", response={200: None})
def report_download(request: HttpRequest, query: Query[ReportQuery]) -> HttpResponse:
    """The rows as a CSV file for spreadsheets."""
    rows = selectors.report_table(user=user_of(request), query=query)
    return spreadsheet_response(rows, name=f"pilothouse-report-{query.since}-{query.until}-by-{query.by}.csv")
