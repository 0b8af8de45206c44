"""The files that differ from a commit, from git."""

import subprocess
from dataclasses import dataclass

from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.runtime.stack import ROOT

GIT_TIMEOUT_SECONDS = 60
EXCLUDE_ENVIRONMENTS = ":(exclude).venv*"
"""`.gitignore` does not cover a link to a virtual environment, because its pattern matches only a folder."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed files as paths from the root of the repository; a renamed file counts as one removed and one added."""

    commit: str
    """Abbreviated hash of the commit that the working tree is compared with."""
    files: tuple[str, ...]
    removed: tuple[str, ...]
    """The `files` that no longer exist."""


def changes_since(commit: str | None) -> Changes:
    """Compare the working tree, untracked files included, with a commit.

    Args:
        commit: Any revision. The comparison is with its merge base with HEAD, so that later changes on that branch do
            not count. None: the upstream of `main`, or HEAD without one.

    Raises:
        CommandFailed: There is no such commit, or this is not a git repository.
    """
    if commit is None:
        commit = "main@{upstream}" if _git("rev-parse", "--verify", "main@{upstream}").returncode == 0 else "HEAD"
    base = _output("merge-base", "HEAD", commit).strip()
    compared = _output("diff", "--name-only", "--no-renames", "-z", base, "--", ".", EXCLUDE_ENVIRONMENTS)
    untracked = _output("ls-files", "--others", "--exclude-standard", "-z", "--", ".", EXCLUDE_ENVIRONMENTS)
    files = sorted({*filter(None, compared.split("\0")), *filter(None, untracked.split("\0"))})
    return Changes(
        commit=_output("rev-parse", "--short", base).strip(),
        files=tuple(files),
        removed=tuple(file for file in files if not (ROOT / file).exists()),
    )


def _output(*words: str) -> str:
    done = _git(*words)
    if done.returncode:
        raise CommandFailed(f"`git {' '.join(words)}` ended with status {done.returncode}.", hint=done.stderr.strip())
    return done.stdout


def _git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", *words],  # noqa: S607 - the developer's git
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=GIT_TIMEOUT_SECONDS,
        check=False,
    )
