"""What can be said of a task without a browser: its files, its texts, and what its seeds make of them."""

import re
from collections.abc import Iterator

from vm_bridge.suites.web.manifest import LANGUAGES
from vm_bridge.suites.web.task_folder import EXPERT, PAGE, VERIFIER, TaskFolder

CHINESE = re.compile(r"[\u4e00-\u9fff]")
SEEDS = 20
"""How many seeds the texts are made with."""


def find_faults(folder: TaskFolder) -> Iterator[str]:
    """Everything wrong, in words; nothing when all is well."""
    yield from _file_faults(folder)
    yield from _text_faults(folder)


def _file_faults(folder: TaskFolder) -> Iterator[str]:
    manifest, page = folder.manifest, folder.path / PAGE
    starts = page / ("game.js" if manifest.kind == "game" else manifest.start.lstrip("/") or "index.html")
    if not starts.exists() and not any((home / "index.html").is_file() for home in (page, folder.kit)):
        yield f"the page {PAGE}/{starts.name} is missing"
    for name, function in ((VERIFIER, "verify"), (EXPERT, "advise")):
        path = folder.path / name
        if not path.is_file():
            yield f"{name} is missing"
        elif f"function {function}(" not in path.read_text():
            yield f"{name} does not define the function {function}"


def _text_faults(folder: TaskFolder) -> Iterator[str]:
    manifest = folder.manifest
    for level in range(1, len(manifest.levels) + 1):
        said = {
            language: {_instruction_faults(folder, level, seed, language) for seed in range(SEEDS)}
            for language in LANGUAGES
        }
        for text in sorted(text for texts in said.values() for text in texts if text.startswith("!")):
            yield f"level {level}: an instruction cannot be made: {text[1:]}"
        if any(len(texts) < 2 for texts in said.values()):
            yield f"level {level}: all seeds give the same instruction"
        if any(not CHINESE.search(text) for text in said["zh"]):
            yield f"level {level}: an instruction in Chinese has no Chinese in it"
        if said["en"] & said["zh"]:
            yield f"level {level}: an instruction is the same in both languages"


def _instruction_faults(folder: TaskFolder, level: int, seed: int, language: str) -> str:
    try:
        return folder.manifest.instruction(level, seed, "zh" if language == "zh" else "en")
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        return f"!{type(error).__name__} {error}"
