"""What can be said of a game's scripts without running them.

The patterns look at whole files, comments and texts included: a word that is refused in a comment is easily taken out,
and none hides behind what looks like a comment. What gets past them is met by the traps of the run.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from task_factory.games.faults import Fault
from vm_bridge.suites.web import static_validation
from vm_bridge.suites.web.task_folder import EXPERT, PAGE, RULES, VERIFIER, TaskFolder

GAME = "game.js"
SCRIPTS = (f"{PAGE}/{RULES}", f"{PAGE}/{GAME}", VERIFIER, EXPERT)
"""Every script of a made game."""
FILES = ("manifest.json", *SCRIPTS)
MAX_LINES = 300
MAX_CHARACTERS = 24_000
PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "network",
        r"\bfetch\b\s*[(\]\"'`]|XMLHttpRequest|WebSocket|EventSource|sendBeacon|RTCPeerConnection|WebTransport",
    ),
    ("network", r"\bnew\s+(Shared)?Worker\b|serviceWorker|importScripts"),
    ("external_resource", r"\bimport\b\s*[({\"'`*]|^\s*import\s|<\s*(script|iframe|link|img)\b|[a-z]+://|[\"'`(]//"),
    ("external_resource", r"createElement\(\s*[\"'`](script|iframe|link|img|object|embed)|\bnew\s+Image\b|\.src\s*="),
    ("dynamic_code", r"\beval\b|\bFunction\b|\bconstructor\b|javascript:|setAttribute\(\s*[\"'`]on|WebAssembly"),
    ("dynamic_code", r"\b(window|self|globalThis|document|top|parent)\s*\["),
    (
        "clock",
        r"\bDate\b|\bperformance\b|\bset(Timeout|Interval|Immediate)\b|requestIdleCallback|timeStamp|\bTemporal\b",
    ),
    (
        "unseeded_random",
        r"\bMath\s*(\.|\?\.)\s*random\b|\bMath\s*\[|[\"'`]random[\"'`]\s*\]|\bcrypto\b|getRandomValues",
    ),
    (
        "storage",
        r"localStorage|sessionStorage|indexedDB|\bcaches\b|\.cookie\b|pilothouse\s*\.\s*stored?\b|window\.name\b",
    ),
    (
        "tampering",
        r"__proto__|\.prototype\b|setPrototypeOf|defineProperty|\bwith\s*\(|\bpilothouse\s*(\.\s*\w+\s*)?=[^=]",
    ),
    (
        "outside_access",
        r"\b(document\.|window\.)?location\b\s*[.=]|\bwindow\.open\b|postMessage|history\.(push|replace)State",
    ),
)
"""The code of a fault, and what must not stand in a script."""


def find_faults(folder: TaskFolder) -> Iterator[Fault]:
    """Everything that is wrong with its files; nothing when all is well."""
    for name in SCRIPTS:
        path = folder.path / name
        if not path.is_file():
            yield Fault("files", f"{name} is missing")
        else:
            yield from find_script_faults(name, path.read_text())
    for found in sorted((folder.path / PAGE).rglob("*")):
        if found.is_file() and f"{PAGE}/{found.relative_to(folder.path / PAGE)}" not in SCRIPTS:
            yield Fault("files", f"{PAGE}/{found.relative_to(folder.path / PAGE)} is not a file of a game")
    if len(folder.manifest.levels) < 3:
        yield Fault("manifest", "a game has three levels at least")
    if folder.manifest.kind != "game" or folder.manifest.step_ms or folder.manifest.responses:
        yield Fault("manifest", "kind is game, and step_ms and responses are left out")
    for text in static_validation.find_faults(folder):
        yield Fault("format", text)


def find_script_faults(name: str, source: str) -> Iterator[Fault]:
    """What must not stand in a script, one fault a code."""
    if len(source) > MAX_CHARACTERS or source.count("\n") > MAX_LINES:
        yield Fault("files", f"{name} has more than {MAX_LINES} lines or {MAX_CHARACTERS} characters")
    seen = set[str]()
    for code, pattern in PATTERNS:
        found = re.search(pattern, source, re.MULTILINE)
        if found and code not in seen:
            seen.add(code)
            line = source.count("\n", 0, found.start()) + 1
            yield Fault(code, f"{name}, line {line}: “{found.group().strip()}” is not allowed")


def read_source(folder: TaskFolder) -> str:
    """Rules, verifier and expert as one script, as the harness loads them."""
    return "\n".join((folder.rules, *(Path(folder.path / name).read_text() for name in (VERIFIER, EXPERT))))
