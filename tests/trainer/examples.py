"""Small samples, attempts and pictures for the tests of training."""

import asyncio
import hashlib
import io
from pathlib import Path

from PIL import Image

from agent_backend.policy.openai_chat import openai_message
from protocol.actions.types import Click, TypeText
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.dialects.families import get_dialect
from protocol.training.samples import Sample, training_samples
from protocol.trajectory.export_folders import (
    TRAJECTORIES,
    ExportCounts,
    ExportedFile,
    ExportManifest,
    image_path,
    trajectory_images,
)
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import TASK, at, proposal, step, trajectory
from tests.unit.trainer.trajectory_folders import write_manifest
from trainer.serve.prompt_encoder import Prompt, PromptEncoder
from trainer.serve.schemas import Message

DIALECT = get_dialect("ui_tars_1_5")
CLICK, TYPED = Click(x=512, y=388), TypeText(text="final.txt\n")
REPLY = (10, 20, 300, 40, 258)
"""What a policy drew; 300 is a token without a text."""
LOGPROBS = (-0.5, -1.5, -2.5, -0.25, -0.125)


def read(picture: BlobRef) -> bytes:
    """A real picture for each reference: its size and its shade follow from what it is called."""
    first, second = bytes.fromhex(picture.sha256[:4])
    data = io.BytesIO()
    Image.new("RGB", (56 + first % 3 * 28, 56 + second % 3 * 28), (first, second, 90)).save(data, "PNG")
    return data.getvalue()


def sample(number: int, *, pictures: int = 1, target: str = "Action: wait()", weight: float = 1.0) -> Sample:
    """A short one; different numbers say and show different things."""
    look = [ImagePart(image=picture(f"{number} {place}")) for place in range(pictures)]
    messages = (
        ChatMessage(role="user", content=(TextPart(text=f"Task {number}" * (number + 1)),)),
        ChatMessage(role="assistant", content=(TextPart(text="Action: click()"),)),
        ChatMessage(role="user", content=(TextPart(text="Now: "), *look)),
    )
    return Sample(f"trajectory-{number}", 0, messages, target, "human", "override", weight)


def picture(name: str) -> BlobRef:
    """A reference; `read` has its bytes."""
    return BlobRef(sha256=hashlib.sha256(name.encode()).hexdigest(), media_type="image/png", size=1)


def accepted(reader: PromptEncoder, **fields: object) -> Trajectory:
    """An accepted step, whose tokens the server told, and a step that a person worded."""
    (first,) = training_samples(trajectory(CLICK), DIALECT)
    drawn: dict[str, object] = {
        "prompt_token_ids": as_served(reader, first).ids,
        "completion_token_ids": REPLY,
        "logprobs": LOGPROBS,
        **fields,
    }
    offer = proposal(1, CLICK).model_copy(update=drawn)
    taken = step(0, CLICK, actor="policy", decision="accept", proposal_id=offer.id)
    return trajectory(steps=(taken, step(1, TYPED)), proposals=((offer,), ()), task=TASK)


def as_served(reader: PromptEncoder, sample: Sample) -> Prompt:
    """The prompt a server makes of a sample's conversation, as a policy's client sends it."""

    async def bytes_of(ref: BlobRef) -> bytes:
        return read(ref)

    async def sent() -> list[Message]:
        return [Message.model_validate(await openai_message(message, bytes_of)) for message in sample.messages]

    return reader.read(asyncio.run(sent()))


def write_attempt_folder(path: Path, *whole: Trajectory) -> Path:
    """An export of attempts whose pictures are real: each is called by the bytes that `read` has for it."""
    lines, contents = "", {}
    for one in whole:
        line = one.model_dump_json()
        for shot in trajectory_images(one):
            data = read(shot)
            called = hashlib.sha256(data).hexdigest()
            line = line.replace(shot.sha256, called)
            contents[image_path(shot.model_copy(update={"sha256": called}))] = data
        lines += line + "\n"
    contents[TRAJECTORIES] = lines.encode()
    for name, data in contents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    files = tuple(
        ExportedFile(path=name, sha256=hashlib.sha256(data).hexdigest(), size=len(data))
        for name, data in contents.items()
    )
    steps = sum(len(one.steps) for one in whole)
    counts = ExportCounts(trajectories=len(whole), steps=steps, images=len(contents) - 1)
    write_manifest(path, ExportManifest(created_at=at(0), counts=counts, files=files))
    return path
