"""Benchmark runs over HTTP: researchers and admins look, start, cancel and resume."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import StringConstraints

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.benchmark_runs import selectors, services
from annotation_app.benchmark_runs.schemas import (
    BenchmarkChoices,
    BenchmarkRunIn,
    BenchmarkRunOut,
    BenchmarksPage,
    StartedRun,
    UnfinishedRuns,
)

router = Router(tags=["benchmarks"], auth=TOKEN_OR_SESSION_AUTH)
RunName = Annotated[str, Path(), StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


@router.get("/benchmarks", response=BenchmarksPage)
def benchmarks_list(request: HttpRequest) -> BenchmarksPage:
    """All runs, how far each is, and the leaderboards."""
    return selectors.runs_page(user=user_of(request))


@router.post("/benchmarks", response={201: StartedRun})
def benchmark_start(request: HttpRequest, body: BenchmarkRunIn) -> Status[StartedRun]:
    """Start an evaluation; a worker begins it where there is a place. Its report is `/evaluations/run:NAME`."""
    return Status(201, StartedRun(name=services.run_start(user=user_of(request), run=body)))


@router.get("/benchmarks/-/choices", response=BenchmarkChoices)
def benchmark_choices(request: HttpRequest) -> BenchmarkChoices:
    """Suites, pools and revisions that a run is chosen from."""
    return selectors.run_choices(user=user_of(request))


@router.get("/benchmarks/-/unfinished", response=UnfinishedRuns)
def benchmarks_unfinished(request: HttpRequest) -> UnfinishedRuns:
    """Runs without a result: those that wait, run, or were interrupted."""
    return selectors.unfinished_runs(user=user_of(request))


@router.get("/benchmarks/{run}", response=BenchmarkRunOut)
def benchmark_get(request: HttpRequest, run: RunName) -> BenchmarkRunOut:
    """A run with its newest attempts."""
    return selectors.run_out(user=user_of(request), name=run)


@router.post("/benchmarks/{run}/cancel", response={204: None})
def benchmark_cancel(request: HttpRequest, run: RunName) -> Status[None]:
    """Begin no further attempt; the same command resumes."""
    services.run_cancel(user=user_of(request), name=run)
    return Status(204, None)


@router.post("/benchmarks/{run}/resume", response={204: None})
def benchmark_resume(request: HttpRequest, run: RunName) -> Status[None]:
    """Begin the missing attempts of a run that was started here."""
    services.run_resume(user=user_of(request), name=run)
    return Status(204, None)


@router.post("/benchmarks/{run}/restart", response={201: StartedRun})
def benchmark_restart(request: HttpRequest, run: RunName) -> Status[StartedRun]:
    """Make the same evaluation from the beginning, as a run of its own. The old one stays."""
    return Status(201, StartedRun(name=services.run_restart(user=user_of(request), name=run)))


@router.delete("/benchmarks/{run}", response={204: None})
def benchmark_delete(request: HttpRequest, run: RunName) -> Status[None]:
    """Delete a run that does not run, with its attempts. A report that was registered of it stays."""
    services.run_delete(user=user_of(request), name=run)
    return Status(204, None)
