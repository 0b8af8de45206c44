"""`manage.py start_run USER BENCHMARK`: start an evaluation, as the page *Evaluations* does."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from annotation_app.benchmark_runs.schemas import FILE_PREFIX, BenchmarkRunIn
from annotation_app.benchmark_runs.selectors import revision_id
from annotation_app.benchmark_runs.services import run_start_by
from annotation_app.errors import ApplicationError

ALL_LEVELS = "all"
NUMBERS = ("seeds", "first_seed", "parallel", "max_steps", "temperature")


class Command(BaseCommand):
    help = "Start an evaluation of a registered revision, a checkpoint or the tasks' own scripts; prints its name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the admin or researcher who starts it")
        parser.add_argument("benchmark", help="a suite, pool:NAME, or a file of tasks (JSON Lines, JSON)")
        parser.add_argument("--revision", nargs=2, metavar=("POLICY", "REVISION"), help="whose attempts")
        parser.add_argument("--checkpoint", type=Path, help="a folder of weights, served as that revision")
        parser.add_argument("--checkpoint-revision", help="what the checkpoint is called (as its folder)")
        parser.add_argument("--level", action="append", default=[], help="of a suite; may be given again, or all")
        parser.add_argument("--size", help="of a suite: its screen, as 640x480 (each task's own)")
        parser.add_argument("--task", action="append", default=[], help="of a suite: only this one; may be given again")
        parser.add_argument("--image", default="", help="of a file: the kind of its machines")
        parser.add_argument("--seeds", type=int, help="attempts at each task (1)")
        parser.add_argument("--first-seed", type=int)
        parser.add_argument("--parallel", type=int, help="machines at a time (2)")
        parser.add_argument("--max-steps", type=int, help="of every attempt (the tasks' own)")
        parser.add_argument("--temperature", type=float, help="at which replies are drawn (the revision's)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = BenchmarkRunIn.model_validate(_fields(options))
            self.stdout.write(run_start_by(username=options["user"], run=run))
        except ValidationError as error:
            first = error.errors()[0]
            raise CommandError(": ".join((*map(str, first["loc"][:1]), first["msg"]))) from error
        except ApplicationError as error:
            raise CommandError(f"{error.code}: {error.message}") from error


def _fields(options: dict[str, Any]) -> dict[str, Any]:
    """The body of the same request over HTTP. Raises NotFound and CommandError."""
    file = Path(options["benchmark"])
    fields = {name: options[name] for name in NUMBERS if options[name] is not None}
    fields |= {"benchmark": options["benchmark"], "tasks": options["task"], "image": options["image"]}
    if file.is_file():
        fields |= {"benchmark": f"{FILE_PREFIX}{file.name}", "file": file.read_text()}
    if options["level"]:
        fields["levels"] = [] if ALL_LEVELS in options["level"] else options["level"]
    if options["size"]:
        fields["size"] = options["size"].split("x")
    if options["revision"]:
        fields["revision"] = revision_id(*options["revision"])
    if options["checkpoint"]:
        fields["checkpoint"] = str(options["checkpoint"].resolve())
    return fields | {"checkpoint_revision": options["checkpoint_revision"]}
