"""Beginning the commands of benchmark runs, in a worker: they would slow the desks of a web process down."""

from annotation_app.benchmark_runs import commands, selectors
from annotation_app.celery import app


@app.task(name="benchmark_runs.spawn")
def run_spawn_job(name: str) -> None:
    """Begin or resume a run, unless its command runs. Running it again does no harm."""
    run = selectors.runs_folder() / name
    request = commands.read_request(run)
    if request is not None and not selectors.is_finished(run):
        commands.spawn(run, request)
