"""Proposals of both servers on one checkpoint: how long they take, whether their numbers are true, what is cached."""

import asyncio
import base64
import itertools
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import simplejpeg

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint, SamplingParams
from agent_backend.policy.reload import ModelServerClient
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.model_servers.launcher import Server, trainer_server, vllm_server, write_checkpoint
from benchmarks.parts.model_servers.vllm_environment import EnvironmentUnavailable
from protocol.actions.types import Click
from protocol.blobs import BlobRef
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

SIZE = (320, 240)
PROPOSALS = 20
STEPS = 20
TOKENS = 32
"""A short thought and an action."""
IMAGES = 3
TIMEOUT_SECONDS = 120.0
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TASK = Task(id="bench", instruction="Open the report")


def measure(folder: Path, python: Path) -> dict[str, object]:
    """Every figure that needs a server; vLLM's are null where its environment cannot be had."""
    tiny, other = (
        write_checkpoint(python, folder / name, "--seed", seed) for name, seed in (("tiny", "0"), ("other", "1"))
    )
    larger = write_checkpoint(python, folder / "larger", "--larger")
    print_progress("trainer.serve, ten million parameters")
    ours = measure_server(trainer_server(larger, new_log_folder(folder)), larger, None, python)
    figures: dict[str, object] = {
        "proposal_p50_ms": percentile(ours["latencies"], 0.5),
        "proposal_p95_ms": percentile(ours["latencies"], 0.95),
        "cache_hit_rate": ours["cache_hit_rate"],
        "parity_trainer_serve": ours["parity"],
    }
    try:
        print_progress("vLLM, ten million parameters")
        theirs = measure_server(vllm_server(larger, new_log_folder(folder)), larger, None, python)
        print_progress("vLLM, 0.7 million parameters, and other weights")
        small = measure_server(vllm_server(tiny, new_log_folder(folder)), tiny, other, python)
    except EnvironmentUnavailable as error:
        print_progress(f"no vLLM here: {error}")
        names = ("proposal_p50_ms_vllm_cpu", "cache_hit_rate_vllm", "parity_max_logprob_diff", "parity_after_reload")
        return figures | dict.fromkeys(names)
    return figures | {
        "proposal_p50_ms_vllm_cpu": percentile(theirs["latencies"], 0.5),
        "cache_hit_rate_vllm": theirs["cache_hit_rate"],
        "parity_max_logprob_diff": small["parity"],
        "parity_after_reload": small["parity_after_reload"],
        "parity_max_logprob_diff_10m": theirs["parity"],
    }


def new_log_folder(folder: Path) -> Path:
    """A folder for the next server's log."""
    return Path(tempfile.mkdtemp(prefix="server-", dir=folder))


def measure_server(
    starting: AbstractContextManager[Server], checkpoint: Path, other: Path | None, python: Path
) -> dict[str, Any]:
    """All that is asked of one server on `checkpoint`; with `other`, its weights are loaded at the end."""
    with starting as server:
        found: dict[str, Any] = asyncio.run(time_proposals(server))
        found["parity"] = measure_parity(server, checkpoint, python)
        if other is not None:
            asyncio.run(measure_reload(server, other))
            found["parity_after_reload"] = measure_parity(server, other, python)
    return found


async def time_proposals(server: Server) -> dict[str, Any]:
    """Milliseconds of single decisions, and the share of an episode's prompt tokens that were known already."""
    policy = OpenAIPolicy(
        PolicyEndpoint(
            base_url=f"{server.url}/v1",
            model="tiny",
            dialect="ui_tars_1_5",
            name="bench",
            revision="1",
            sampling=SamplingParams(n=3, temperature=1.0, max_tokens=TOKENS, seed=1),
            timeouts=RequestTimeouts(token=TIMEOUT_SECONDS, total=TIMEOUT_SECONDS),
            budget=HistoryBudget(images=IMAGES),
        )
    )
    pictures = [picture(number) for number in range(PROPOSALS + STEPS + 3)]
    try:
        latencies = []
        for number in range(PROPOSALS + 2):
            latencies.append(await time_decision(policy, pictures[number : number + 1]))
        before = await read_token_counts(server)
        for step in range(STEPS):
            await time_decision(policy, pictures[PROPOSALS + 2 : PROPOSALS + 3 + step])
        after = await read_token_counts(server)
    finally:
        await policy.aclose()
    read, known = (now - then for now, then in zip(after, before, strict=True))
    return {"latencies": latencies[2:], "cache_hit_rate": round(known / read, 3)}


async def time_decision(policy: OpenAIPolicy, pictures: Sequence[bytes]) -> float:
    """Milliseconds of one decision, after one step for each picture but the last."""
    blobs = {BlobRef.of(data, "image/jpeg"): data for data in pictures}
    seen = [observation(ref) for ref in blobs]
    steps = tuple(step(index, before, after) for index, (before, after) in enumerate(itertools.pairwise(seen)))

    async def blob(ref: BlobRef) -> bytes:
        return blobs[ref]

    async def partial(_: object) -> None: ...

    began = time.perf_counter()
    kinds = frozenset({"click", "type_text", "finish"})
    await policy.propose(TASK, steps, seen[-1], kinds=kinds, blob=blob, partial=partial)
    return (time.perf_counter() - began) * 1000


def observation(ref: BlobRef) -> Observation:
    """A screen at rest."""
    width, height = SIZE
    return Observation(
        screenshot=ref, width=width, height=height, captured_at=NOW, settled=True, rest="rested", settle_ms=0.0
    )


def step(index: int, before: Observation, after: Observation) -> Step:
    """A click of somebody's."""
    return Step(
        index=index,
        command_id=f"step-{index}",
        actor="human",
        decision="override",
        thought="The button is there",
        action=Click(x=10 + index, y=10),
        before=before,
        after=after,
        started_at=NOW,
        ended_at=NOW,
    )


def picture(number: int) -> bytes:
    """A screenshot's bytes, each another."""
    noise = np.random.default_rng(number).integers(0, 255, (SIZE[1] // 8, SIZE[0] // 8, 3), np.uint8)
    pixels = np.ascontiguousarray(noise.repeat(8, 0).repeat(8, 1))
    return bytes(simplejpeg.encode_jpeg(pixels, quality=90, colorspace="RGB"))


async def read_token_counts(server: Server) -> tuple[float, float]:
    """How many prompt tokens were read so far, and how many of them were known."""
    names = {
        "serve": ("prompt_tokens_total", "prefix_cache_hits_total"),
        "vllm": ("prefix_cache_queries_total", "prefix_cache_hits_total"),
    }
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{server.url}/metrics", timeout=TIMEOUT_SECONDS)).text
    read, known = (
        sum(float(v) for v in re.findall(rf"^{server.metrics}:{name}\{{.*\}} (\S+)$", text, re.MULTILINE))
        for name in names[server.metrics]
    )
    return read, known


def measure_parity(server: Server, checkpoint: Path, python: Path) -> float:
    """The largest difference between a server's log-probabilities and those of one pass over the same tokens."""
    image = f"data:image/jpeg;base64,{base64.b64encode(picture(99)).decode()}"
    content = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": "What is next?"}]
    body = {
        "model": "tiny",
        "messages": [{"role": "user", "content": content}],
        **{"n": 3, "temperature": 0.7, "max_tokens": TOKENS, "seed": 3},
        **{"logprobs": True, "top_logprobs": 0, "return_token_ids": True},
    }
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=TIMEOUT_SECONDS, trust_env=False)
    answer.raise_for_status()
    said = answer.json()
    lines = [
        json.dumps(
            {
                "prompt_token_ids": said["prompt_token_ids"],
                "images": [image],
                "token_ids": choice["token_ids"],
                "temperature": 0.7,
            }
        )
        for choice in said["choices"]
    ]
    done = subprocess.run(
        [python, "-m", "trainer.likelihood", checkpoint],
        input="\n".join(lines),
        stdout=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_SECONDS,
        cwd=ROOT,
        check=True,
    )
    differences: list[float] = [
        abs(token["logprob"] - found)
        for choice, line in zip(said["choices"], done.stdout.splitlines(), strict=True)
        for token, found in zip(choice["logprobs"]["content"], json.loads(line)["logprobs"], strict=True)
    ]
    return max(differences)


async def measure_reload(server: Server, checkpoint: Path) -> None:
    """Other weights while it runs."""
    changing = ModelServerClient(server.url)
    try:
        await changing.reload(str(checkpoint), "other")
    finally:
        await changing.aclose()
