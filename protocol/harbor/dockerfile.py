"""The part of a Dockerfile that a machine of ours does by itself: FROM, RUN, COPY, WORKDIR, ENV.

Every other instruction, every flag, heredocs, build stages and patterns are refused by name: leaving one out would make
another environment without a word.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Literal

from protocol.base import FrozenModel
from protocol.harbor.errors import FolderError
from protocol.harbor.folder_files import check_path

IMAGES: Mapping[str, Literal["terminal", "desktop"]] = {
    "pilothouse-terminal": "terminal",
    "pilothouse-desktop": "desktop",
}
"""Base images that are machines of ours, and their platforms."""
CONTAINER_IMAGE = "task-container"
"""The machine image of tasks whose environment a container engine makes, as their own Dockerfile says."""
DEFAULT_ENV = {"HOME": "/home/user", "PATH": "/usr/local/bin:/usr/bin:/bin"}
WRITABLE_FOLDERS = ("/home/user", "/tmp", "/app", "/workspace")  # noqa: S108 - folders inside a sandbox
"""Where a task may put its files; the rest of a machine's file system is read-only."""
MAX_INSTRUCTIONS = 200
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)|)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Run(FrozenModel):
    """A command of a shell, or with `argv` a program."""

    kind: Literal["run"] = "run"
    argv: tuple[str, ...]
    workdir: str
    env: dict[str, str]


class Copy(FrozenModel):
    """Files of the folder `environment`, each with its place in the machine."""

    kind: Literal["copy"] = "copy"
    files: dict[str, str]


class BuildPlan(FrozenModel):
    """What makes a fresh machine the task's environment."""

    platform: Literal["terminal", "desktop"]
    steps: tuple[Run | Copy, ...] = ()
    workdir: str = "/home/user"
    env: dict[str, str] = {}


def parse_dockerfile(text: str, context: frozenset[str]) -> BuildPlan:
    """What a Dockerfile asks for; `context` are the paths below `environment`. Raises FolderError."""
    reader = _Reader(context)
    for number, (line, word, rest) in enumerate(_instructions(text)):
        if number == MAX_INSTRUCTIONS:
            raise FolderError("harbor_too_large", f"the Dockerfile has more than {MAX_INSTRUCTIONS} instructions")
        reader.read(line, word.upper(), rest)
    return reader.plan()


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """Each instruction with its line: its word, and what follows, continued lines joined."""
    if "\0" in text:
        raise FolderError("harbor_invalid", "the Dockerfile holds a NUL character")
    start, joined = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            if re.match(r"#\s*escape\s*=", stripped, re.IGNORECASE):
                raise FolderError("harbor_unsupported", f"Dockerfile, line {number}: another escape character")
            continue
        if not stripped:
            continue
        start = start or number
        if line.rstrip().endswith("\\"):
            joined += line.rstrip()[:-1]
            continue
        word, _, rest = (joined + line).strip().partition(" ")
        yield start, word, rest.strip()
        start, joined = 0, ""
    if joined:
        raise FolderError("harbor_invalid", f"Dockerfile, line {start}: it ends in the middle of an instruction")


class _Reader:
    """Reads instruction by instruction. Raises FolderError."""

    def __init__(self, context: frozenset[str]) -> None:
        self._context = context
        self._platform: Literal["terminal", "desktop"] | None = None
        self._steps: list[Run | Copy] = []
        self._workdir = "/home/user"
        self._env: dict[str, str] = {}

    def plan(self) -> BuildPlan:
        """What was read."""
        if self._platform is None:
            raise FolderError("harbor_invalid", "the Dockerfile has no FROM")
        return BuildPlan(platform=self._platform, steps=tuple(self._steps), workdir=self._workdir, env=self._env)

    def read(self, line: int, word: str, rest: str) -> None:
        readers = {
            "FROM": self._from,
            "RUN": self._run,
            "COPY": self._copy,
            "WORKDIR": self._change_folder,
            "ENV": self._set_variables,
        }
        try:
            if word not in readers:
                raise FolderError("harbor_unsupported", f"no machine here does {word[:30]}")
            if self._platform is None and word != "FROM":
                raise FolderError("harbor_invalid", f"{word} precedes FROM")
            if rest.startswith("--"):
                raise FolderError("harbor_unsupported", f"no machine here does {word} {rest.split()[0][:40]}")
            readers[word](rest)
        except FolderError as error:
            raise FolderError(error.code, f"Dockerfile, line {line}: {error}") from None

    def _from(self, rest: str) -> None:
        if self._platform is not None or " " in rest:
            raise FolderError("harbor_unsupported", "no machine here does build stages")
        name = rest.rpartition("/")[2].partition("@")[0].partition(":")[0]
        if name not in IMAGES:
            known = " and ".join(IMAGES)
            message = f"FROM {rest[:100]} needs a container engine: machines of the image {CONTAINER_IMAGE}"
            raise FolderError("harbor_unsupported", f"{message}; those of ours are {known}")
        self._platform = IMAGES[name]

    def _run(self, rest: str) -> None:
        if re.search(r"<<[-~]?\s*[\"']?[A-Za-z_]", rest):
            raise FolderError("harbor_unsupported", "no machine here does RUN with a heredoc")
        argv = _json_words(rest)
        if argv is None:
            argv = ("bash", "-c", rest)
        if not argv or not rest:
            raise FolderError("harbor_invalid", "RUN runs nothing")
        self._steps.append(Run(argv=argv, workdir=self._workdir, env=dict(self._env)))

    def _copy(self, rest: str) -> None:
        words = _json_words(rest) or _split(rest)
        if len(words) < 2:
            raise FolderError("harbor_invalid", "COPY needs a source and a destination")
        *sources, last = (self._expand(word) for word in words)
        into_folder = last.endswith("/") or len(sources) > 1 or last in (".", "..")
        target = self._place(last)
        copied: dict[str, str] = {}
        for source in sources:
            copied |= self._copied(source, target, into_folder=into_folder)
        self._steps.append(Copy(files=copied))

    def _copied(self, source: str, target: str, *, into_folder: bool) -> dict[str, str]:
        """The files of one source with their places; a folder gives what is in it, as Docker does."""
        if any(mark in source for mark in "*?["):
            raise FolderError("harbor_unsupported", f"no machine here does COPY with the pattern {source[:100]}")
        name = source.removeprefix("./").strip("/")
        name = "" if name in ("", ".") else check_path(name)
        if name in self._context:
            return {name: f"{target}/{name.rpartition('/')[2]}" if into_folder else target}
        below = f"{name}/" if name else ""
        found = {path: f"{target}/{path[len(below) :]}" for path in self._context if path.startswith(below)}
        if not found:
            raise FolderError("harbor_missing", f"COPY: there is no environment/{source[:100]}")
        return found

    def _change_folder(self, rest: str) -> None:
        if not rest:
            raise FolderError("harbor_invalid", "WORKDIR names no folder")
        self._workdir = self._place(self._expand(rest.strip("\"'")))

    def _set_variables(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        pairs = [(name, value)] if "=" not in name else [word.partition("=")[::2] for word in _split(rest)]
        for name, value in pairs:
            if _NAME.fullmatch(name) is None:
                raise FolderError("harbor_invalid", f"ENV: {name[:40]!r} is no name")
            self._env[name] = self._expand(value)

    def _expand(self, text: str) -> str:
        """The text with the variables set so far."""

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            known = {**DEFAULT_ENV, **self._env}
            if not name or name not in known:
                raise FolderError("harbor_unsupported", f"the variable in {text[:60]!r} is not known")
            return known[name]

        return _VARIABLE.sub(value, text)

    def _place(self, path: str) -> str:
        """A path in the machine. Raises FolderError for one that no task may write to."""
        whole: list[str] = []
        for part in (path if path.startswith("/") else f"{self._workdir}/{path}").split("/"):
            if part == "..":
                del whole[-1:]
            elif part not in ("", "."):
                whole.append(part)
        place = "/" + "/".join(whole)
        if not any(place == folder or place.startswith(f"{folder}/") for folder in WRITABLE_FOLDERS):
            writable = ", ".join(WRITABLE_FOLDERS)
            raise FolderError("harbor_unsupported", f"{place[:100]} is read-only in our machines; {writable} are not")
        return place


def _json_words(text: str) -> tuple[str, ...] | None:
    """The words of the JSON form; None where the text is not of that form."""
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(words) if isinstance(words, list) and all(isinstance(word, str) for word in words) else None


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise FolderError("harbor_invalid", f"its quotes cannot be read: {error}") from None
