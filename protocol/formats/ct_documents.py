"""Documents for continued pre-training: each trajectory as Markdown with its pictures, which the trainer's `ct` reads.

Before each act stand the picture that it was done on and the thought; the act is said in words, with pixels of that
picture, and the element that a recorded person clicked where its program told. Of a document every word is learned, so
words that a tokenizer takes for its own are broken up.
"""

import re
from collections.abc import Iterator

from protocol.actions.descriptions import describe_action
from protocol.blobs import BlobRef
from protocol.formats.records import ExportFormat, ExportOptions, Record
from protocol.formats.special_tokens import VERL, escape_prompt_text
from protocol.trajectory.elements import StepElement, describe_element, step_elements
from protocol.trajectory.export_folders import EXTENSIONS
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

DOCUMENT = "document.md"


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """The folder of one trajectory. Steps that were decided otherwise than wanted are left out."""
    steps = [
        step
        for step in without_undone_steps(trajectory).steps
        if options.decisions is None or step.decision in options.decisions
    ]
    if not steps:
        return
    elements = step_elements(trajectory)
    files: dict[str, bytes | BlobRef] = {}
    images: list[BlobRef] = []
    parts = [f"# {_plain(trajectory.task.instruction)}"]
    for number, step in enumerate(steps, start=1):
        if (screenshot := step.before.screenshot) is not None:
            name = f"step-{number}.{EXTENSIONS[screenshot.media_type]}"
            files[f"{trajectory.id}/{name}"] = screenshot
            images.append(screenshot)
            parts.append(f"![]({name})")
        parts += _texts(step, elements.get(step.index))
    if trajectory.answer:
        parts.append(_plain(trajectory.answer))
    files[f"{trajectory.id}/{DOCUMENT}"] = ("\n\n".join(parts) + "\n").encode()
    yield Record(trajectory.id, tuple(images), files=files, steps=len(steps))


def _texts(step: Step, element: StepElement | None) -> Iterator[str]:
    if step.before.text:
        yield _plain(step.before.text)
    if step.thought.strip():
        yield _plain(step.thought)
    action = describe_action(step.action)
    yield _plain(action if element is None else f"{action}: {describe_element(element)}")


def _plain(text: str) -> str:
    """A text that names no picture and holds no word of a tokenizer's."""
    return re.sub(r"!(?=\[)", "! ", escape_prompt_text(text.strip(), VERL))


FORMAT = ExportFormat("ct_documents", "folders", records)
