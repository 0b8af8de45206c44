"""An evaluation by verifiers' own command, of a policy that replies from a script."""

import json
import os
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.parts.tasks.peers import run_peer
from protocol.trajectory.tasks import Task

KEY_VARIABLE = "PILOTHOUSE_BENCH_POLICY_KEY"


class ScriptedPolicy(ThreadingHTTPServer):
    """Streams chat completions: the n-th turn's reply is the n-th action, the last one from then on."""

    def __init__(self, actions: list[Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[str] = [json.dumps(action) for action in actions]
        self.pictures = 0
        """How many requests had a picture in their last turn."""

    @property
    def url(self) -> str:
        """The address of its API."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def reply(self, messages: list[dict[str, Any]]) -> str:
        """The reply to a conversation."""
        content = messages[-1].get("content")
        parts = content if isinstance(content, list) else []
        self.pictures += any(part.get("type") == "image_url" for part in parts)
        turn = sum(message["role"] == "assistant" for message in messages)
        reply: str = self.replies[min(turn, len(self.replies) - 1)]
        return reply


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedPolicy

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "messages" not in body:  # it is asked to count tokens
            return self.send_error(404)
        text = self.server.reply(body["messages"])
        common = {"id": "1", "created": 0, "model": body["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            record = {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
            return self._send("application/json", json.dumps(record))
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        lines = [json.dumps({**common, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
        self._send("text/event-stream", "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")))

    def _send(self, media_type: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def verifiers_evaluates(
    python: Path, folder: Path, url: str, environment: Mapping[str, str], task: Task, actions: list[Any]
) -> float | None:
    """The reward that `vf-eval` records of one episode, which must have had pictures. Raises PeerFailed."""
    folder.mkdir()
    policy = ScriptedPolicy(actions)
    serving = threading.Thread(target=policy.serve_forever, daemon=True)
    serving.start()
    command: list[str | Path] = [
        python.with_name("vf-eval"),
        "pilothouse-gui",
        "--env.taskset.base-url",
        url,
        "-m",
        "scripted",
    ]
    command += ["--env.taskset.tasks", json.dumps([task.id]), "--client.base-url", policy.url]
    command += ["--client.api-key-var", KEY_VARIABLE, "--no-push", "--no-rich", "--output-dir", folder / "out"]
    command += ["--env.player.harness.id", "null", "--env.player.runtime.type", "subprocess"]
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    try:
        run_peer(command, {**environment, KEY_VARIABLE: "none", "PATH": path}, cwd=folder)
    finally:
        policy.shutdown()
        policy.server_close()
        serving.join()
    episodes = [json.loads(line) for path in folder.rglob("traces.jsonl") for line in path.open()]
    rewards = [trace["rewards"].get("verifier", {}).get("score") for each in episodes for trace in each["traces"]]
    return rewards[0] if len(rewards) == 1 and policy.pictures else None
