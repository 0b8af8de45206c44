"""`python -m annotation_app.client`: find, export and follow trajectories, register revisions; one JSON a line."""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_origin
from uuid import UUID

from pydantic import BaseModel, ValidationError

from annotation_app.client.client import Pilothouse
from annotation_app.client.errors import (
    ImportFailed,
    PilothouseError,
    RequestRejected,
    ServerFailed,
    Unreachable,
)
from annotation_app.client.folders import check_download_target
from annotation_app.client.inbox_follower import follow_query
from annotation_app.client.responses import ExportOut, FeedItem, ImportOut, Query
from protocol.base import find_json_error

POLL_SECONDS = 5.0
"""Seconds between two rounds of `stream`."""


class FetchedItem(FeedItem):
    """What became of a trajectory: `new`, or the reason's code why it cannot be had."""

    became: str


def main(arguments: list[str] | None = None) -> int:
    """Do what was asked; 1 where it was refused, with the reason's code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        with Pilothouse(options.url) as client:
            run: Callable[[Pilothouse, argparse.Namespace], int] = options.run
            return run(client, options)
    except PilothouseError as error:
        print(f"{error.code}: {error}{_field_errors(error)}", file=sys.stderr)
    except ValidationError as error:
        print(f"invalid: {error.errors()[0]['msg']}", file=sys.stderr)
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1


def _field_errors(error: PilothouseError) -> str:
    """What the server says of single fields."""
    fields = error.extra.get("fields") if isinstance(error, RequestRejected) else None
    reported = [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
    return "".join(f"\n  {one.get('field')}: {one.get('message')}" for one in reported)


def _json_object(text: str) -> dict[str, Any]:
    """Raises ArgumentTypeError for what is no JSON object."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("no JSON object")
    if (fault := find_json_error(value)) is not None:
        raise argparse.ArgumentTypeError(": ".join(filter(None, fault)))
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m annotation_app.client",
        description="Find trajectories, export them, follow them, register revisions. The token is the one of"
        " PILOTHOUSE_TOKEN, or of the file PILOTHOUSE_TOKEN_FILE names.",
    )
    parser.add_argument("--url", help="the server; PILOTHOUSE_URL by default")
    commands = parser.add_subparsers(required=True)

    listing = commands.add_parser("list", help="kept queries, exports or policies")
    listing.add_argument("what", choices=("queries", "exports", "policies"))
    listing.set_defaults(run=_list)

    query = commands.add_parser("query", help="trajectories, newest first")
    _query_arguments(query)
    query.add_argument("--most", type=int, help="stop after so many")
    query.set_defaults(run=_query)

    show = commands.add_parser("show", help="one finished trajectory")
    show.add_argument("id", type=UUID)
    show.set_defaults(run=_show)

    export = commands.add_parser("export", help="write trajectories to a folder")
    export.add_argument("folder", type=Path)
    _query_arguments(export)
    export.add_argument("--format", default="canonical")
    export.add_argument("--plan", type=_json_object, default={}, help="more of the plan, as JSON")
    export.add_argument("--id", type=UUID, help="download this export, and ask for none")
    export.set_defaults(run=_export, review="accepted")

    import_command = commands.add_parser("import", help="import trajectories that were made elsewhere")
    import_command.add_argument("file", type=Path, help="a zip, a tar, lines of trajectories, or a folder")
    import_command.add_argument("--pool", default="", help="the pool of what comes in; named after the file by default")
    import_command.add_argument(
        "--format", choices=("canonical", "atif", "agentnet", "recording"), default="", help="what its rows have to be"
    )
    import_command.set_defaults(run=_import)

    stream = commands.add_parser("stream", help="put trajectories into a trainer's inbox as they become ready")
    stream.add_argument("inbox", type=Path)
    _query_arguments(stream)
    stream.add_argument("--once", action="store_true", help="bring in what is ready, and end")
    stream.add_argument("--every", type=float, default=POLL_SECONDS, help="seconds between two looks")
    stream.set_defaults(run=_stream, review="accepted")

    register = commands.add_parser("register", help="register a revision of a policy")
    for name in ("name", "revision", "dialect", "base-url", "model"):
        register.add_argument(f"--{name}", required=True)
    for name in ("checkpoint", "weight-version"):
        register.add_argument(f"--{name}", default="")
    for name in ("sampling", "memory"):
        register.add_argument(f"--{name}", type=_json_object, default={}, help="JSON")
    register.set_defaults(run=_register)
    return parser


def _query_arguments(parser: argparse.ArgumentParser) -> None:
    """A flag for each field of a query."""
    parser.add_argument("--saved", metavar="QUERY", help="a kept query, by number or name; the flags change it")
    for name, field in Query.model_fields.items():
        is_list = get_origin(field.annotation) is tuple
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            nargs="*" if is_list else None,
            metavar=name.upper(),
            default=argparse.SUPPRESS,
        )


def _build_query(client: Pilothouse, options: argparse.Namespace) -> Query:
    """The kept query that was named, changed by the flags; what is given as "any" is not asked for."""
    base = client.query(options.saved).model_dump(exclude_defaults=True) if options.saved else {}
    flags = {name: getattr(options, name) for name in Query.model_fields if hasattr(options, name)}
    return Query.model_validate({**base, **{name: value for name, value in flags.items() if value != "any"}})


def _list(client: Pilothouse, options: argparse.Namespace) -> int:
    return _print_json(
        {"queries": client.queries, "exports": client.exports, "policies": client.policies}[options.what]()
    )


def _query(client: Pilothouse, options: argparse.Namespace) -> int:
    found = client.trajectories(_build_query(client, options))
    return _print_json(one for _, one in zip(range(options.most or sys.maxsize), found, strict=False))


def _show(client: Pilothouse, options: argparse.Namespace) -> int:
    return _print_json([client.trajectory(options.id)])


def _export(client: Pilothouse, options: argparse.Namespace) -> int:
    check_download_target(options.folder)
    if options.id is None:
        filters = _build_query(client, options).model_dump(mode="json", exclude_defaults=True)
        started = client.export_start({"review": None, **filters}, {**options.plan, "format": options.format})
    else:
        started = client.export(options.id)
    _print_status(f"export {started.id}")
    client.export_wait(started.id, _print_progress)
    client.export_download(started.id, options.folder)
    return _print_json([client.export(started.id)])


def _import(client: Pilothouse, options: argparse.Namespace) -> int:
    started = client.import_start(options.file, pool=options.pool, form=options.format, progress=_upload_progress())
    _print_status(f"import {started.id}")
    try:
        ended = client.import_wait(started.id, _print_progress)
    except ImportFailed:
        _print_refusals(client, started)
        raise
    if ended.refused:
        _print_refusals(client, started)
    return _print_json([ended])


def _upload_progress() -> Callable[[int, int], None]:
    """Tells each percent of an upload once."""
    reported = -1

    def tell(received: int, size: int) -> None:
        nonlocal reported
        percent = received * 100 // max(size, 1)
        if percent != reported:
            reported = percent
            _print_status(f"sent {percent}% of {size} bytes")

    return tell


def _print_refusals(client: Pilothouse, job: ImportOut) -> None:
    for row in client.import_refused(job.id):
        _print_status(f"{row.file}:{row.line}: {row.code}: {row.message}")


def _print_progress(export: ExportOut | ImportOut) -> None:
    _print_status(f"{export.status} {export.progress:.0%}")


def _stream(client: Pilothouse, options: argparse.Namespace) -> int:
    ended = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: ended.set())
    with follow_query(client, options.inbox, _build_query(client, options)) as follower:
        while True:
            try:
                for item, became in follower.fetch_new():
                    _print_json([FetchedItem(id=item.id, ready_at=item.ready_at, became=became)])
                    if ended.is_set():
                        return 0
            except (Unreachable, ServerFailed) as error:
                if options.once:
                    raise
                _print_status(f"{error.code}: {error}")
            if options.once or ended.wait(options.every):
                return 0


def _register(client: Pilothouse, options: argparse.Namespace) -> int:
    fields = ("name", "revision", "dialect", "base_url", "model", "checkpoint", "weight_version", "sampling", "memory")
    return _print_json([client.policy_register(**{name: getattr(options, name) for name in fields})])


def _print_json(rows: Iterable[BaseModel]) -> int:
    for row in rows:
        print(row.model_dump_json(), flush=True)
    return 0


def _print_status(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
