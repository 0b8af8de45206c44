"""Command-line completion as in bash: commands, variables, paths, and a command's own completion.

A person's text is only compared and passed as arguments. No part of it is executed as code.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vm_bridge.guest.common.actions import MAX_OUTPUT, ActionFailed
from vm_bridge.guest.linux import shell
from vm_bridge.guest.linux.terminals.command_line import CommandLine, quote_word, read_command_line

MAX_OPTIONS = 100
MAX_LINE = 4_000
"""Characters; a longer line is not completed."""
MAX_ENTRIES = 10_000
"""Maximum checked entries of a folder."""
MAX_OPTION = 1_000
"""Longest option (characters)."""
SECONDS = 1.0
"""Timeout of bash; then its process group is killed."""
LIBRARY = Path("/usr/share/bash-completion/bash_completion")
VARIABLE = re.compile(r"(?<!\\)\$\{?([A-Za-z_][A-Za-z0-9_]*)?\Z")
COMMAND_NAME = re.compile(r"[A-Za-z0-9_.+-]+\Z")
PLAIN_WORD = re.compile(r"[A-Za-z0-9_@%+,./-]*\Z")
"""Completion functions may evaluate their words, so they only get plain words."""

NAMES = 'exec 2>/dev/null; compgen -A "$1" -- "$2"'
"""Arguments: the kind and the prefix. Prints one name per line."""
PROGRAMMED = r"""
exec 2>/dev/null
cd -- "$1" || exit 0
library=$2 COMP_CWORD=$3
shift 3
COMP_WORDS=("$@") COMP_LINE="$*" COMP_TYPE=9 COMP_KEY=9
COMP_POINT=${#COMP_LINE}
exec 3>&1 >/dev/null </dev/null
source "$library"
paths=''
compopt() { [[ $* == *-o*filenames* ]] && paths=1; return 0; }
function_of() {
  local word before=''
  while read -ra spec; do
    for word in "${spec[@]}"; do
      [[ $before == -F ]] && { printf %s "$word"; return; }
      before=$word
    done
  done < <(complete -p -- "$1")
}
load() {
  if declare -F _comp_load; then _comp_load -- "$1"
  elif declare -F _completion_loader; then _completion_loader "$1"
  fi
}
command=$1
for attempt in 1 2; do
  function=$(function_of "$command")
  [[ $function ]] || { load "$command"; function=$(function_of "$command"); }
  [[ $function ]] || exit 0
  [[ " $(complete -p -- "$command") " == *" -o filenames "* ]] && paths=1
  COMPREPLY=()
  "$function" "$command" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
  (($? == 124)) || break
done
printf '%s\0' "$paths" "${COMPREPLY[@]}" >&3
"""
"""Arguments: the folder, the library, the index of the word, and the words. Prints whether they are paths, then the
options, each ended by a zero byte."""


@dataclass(frozen=True)
class Completion:
    """Completions that replace the line from `start` to its end, as typed there."""

    start: int
    options: tuple[str, ...]
    more: bool
    """Whether there may be others: more than `MAX_OPTIONS`, or a folder of more than `MAX_ENTRIES` entries."""


def complete(line: str, folder: Path, *, library: Path = LIBRARY) -> Completion:
    """Bash's completions at the end of a line in a folder; none on timeout."""
    if len(line) > MAX_LINE:
        return Completion(len(line), (), more=False)
    command = read_command_line(line)
    variable = VARIABLE.search(line)
    if variable and command.quote != "'" and variable.start() >= command.start:
        opening = variable.group()[: variable.start(1) - variable.start()] if variable.group(1) else variable.group()
        ending = "}" if opening == "${" else ""
        names = _names("variable", variable.group(1) or "")
        return _bounded(variable.start(), (f"{opening}{name}{ending}" for name in names))
    if not command.words and not command.after_redirect and "/" not in command.text:
        is_name = COMMAND_NAME.match(command.text) and not command.quote
        return _bounded(command.start, _names("command", command.text) if is_name else ())
    if command.words and not command.after_redirect:
        options = _programmed(command, folder, library)
        if options:
            return _bounded(command.start, options)
    return _paths(line, command, folder)


def folder_of(pid: int, fallback: Path) -> Path:
    """The current folder of a process, if it can be read and still exists."""
    try:
        folder = Path(os.readlink(f"/proc/{pid}/cwd"))
        return folder if folder.is_dir() else fallback
    except OSError:
        return fallback


def _bounded(start: int, options: Iterable[str], *, cut: bool = False) -> Completion:
    short = (one for one in sorted(set(options)) if len(one) <= MAX_OPTION)
    found = list(islice(short, MAX_OPTIONS + 1))
    return Completion(start, tuple(found[:MAX_OPTIONS]), more=cut or len(found) > MAX_OPTIONS)


def _names(kind: str, prefix: str) -> list[str]:
    return [name for name in _run_bash(NAMES, kind, prefix).decode("utf-8", "replace").splitlines() if name]


def _programmed(command: CommandLine, folder: Path, library: Path) -> list[str]:
    """Results of the command's completion function, if the machine has one."""
    words = (*command.words, command.text)
    safe = COMMAND_NAME.match(words[0]) and all(PLAIN_WORD.match(word) for word in words)
    if not safe or command.quote or not library.is_file():
        return []
    answer = _run_bash(PROGRAMMED, str(folder), str(library), str(len(words) - 1), *words)
    paths, *options = answer.decode("utf-8", "replace").split("\0")[:-1] or [""]
    matching = [option.rstrip(" ") for option in options if option.startswith(command.text)]
    if not paths:
        return [option for option in matching if option.isprintable()]
    visible = (one for one in matching if _offered(Path(one).name, command.text.rpartition("/")[2]))
    ended = (f"{one}/" if not one.endswith("/") and _path(one, folder).is_dir() else one for one in visible)
    return [quoted for one in ended if (quoted := quote_word(one)) is not None]


def _paths(line: str, command: CommandLine, folder: Path) -> Completion:
    """Folder entries that start with the last word, after its last `=` or `:`."""
    start, text = command.start, command.text
    raw = line[start:]
    at = max(raw.rfind("="), raw.rfind(":")) + 1
    if at > 0 and not any(char in raw for char in "\\'\""):
        start, text = start + at, text[at:]
    name = text.rpartition("/")[2]
    above = text[: len(text) - len(name)]
    try:
        with os.scandir(_path(above or ".", folder, command.quote)) as entries:
            seen, cut = list(islice(entries, MAX_ENTRIES)), next(entries, None) is not None
            found = [entry for entry in seen if entry.name.startswith(name) and _offered(entry.name, name)]
            names = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in found]
    except (OSError, ValueError):  # no folder, no permission, or an invalid name
        return Completion(start, (), more=False)
    quoted = (quote_word(above + one, command.quote) for one in names)
    return _bounded(start, (one for one in quoted if one is not None), cut=cut)


def _offered(name: str, written: str) -> bool:
    return not name.startswith(".") or written.startswith(".")


def _path(text: str, folder: Path, quote: str = "") -> Path:
    return Path.home() / text[2:] if text.startswith("~/") and not quote else folder / text


def _run_bash(script: str, *arguments: str) -> bytes:
    """Output of our own script; empty if it takes too long or prints too much."""
    try:
        output, status = shell.run(["bash", "-c", script, "bash", *arguments], timeout=SECONDS)
    except (ActionFailed, ValueError):  # no bash, or a word with a zero byte
        return b""
    return b"" if status is None or len(output) > MAX_OUTPUT else output
