"""Tasks of our own in the forms in which benchmarks are published; nothing of a benchmark is in them."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from protocol.trajectory.sealing import encrypt

CANARY = "pilothouse-own-canary 6f1d0c52-8a44-4be1-9d33-2f5b7e1a90cc"
"""The password of our own sealed questions."""
MARKER = "Orlmouth"
"""A word of the English question that is in nothing else."""
QUESTION = f"Which colour has the door of the lighthouse keeper's house in the invented village of {MARKER}, and why?"
ANSWER = "Teal green"
CHINESE_MARKER = "槐岭渡"
CHINESE_QUESTION = f"虚构的小镇{CHINESE_MARKER}的钟楼于哪一年落成？"
CHINESE_ANSWER = "一九〇三年"

LAMP_PAGE = """<!doctype html><title>Lamp</title>
<body style="margin:0;background:#222;color:#fff;font:20px sans-serif">
<button id="lamp" style="position:absolute;left:100px;top:100px;width:200px;height:100px"
 onclick="document.body.style.background='#0a0'">Turn on</button>
<textarea style="position:absolute;left:100px;top:300px;width:400px;height:100px"></textarea>"""
"""A site with one task: turn the lamp on, which makes the page green."""
LAMP_BOX = [100, 100, 200, 100]
"""Of its button: left, top, width, height."""

TERMINAL_FOLDER: Mapping[str, bytes] = {
    "task.toml": b'schema_version = "1.4"\n[task]\nname = "own/sum"\n[metadata]\ncategory = "own"\n',
    "instruction.md": b"Write the sum of the numbers in in.txt into out.txt.\n",
    "environment/Dockerfile": b"FROM pilothouse-terminal\nWORKDIR /app\nCOPY in.txt ./\n",
    "environment/in.txt": b"4\n17\n21\n",
    "tests/test.sh": b"python3 -I /tests/check.py\n",
    "tests/check.py": b"from pathlib import Path\nimport time\n"
    b"time.sleep(0.2)  # long enough for a process of the attempt to do harm\n"
    b"out = Path('/app/out.txt')\n"
    b"good = out.is_file() and out.read_text().strip() == '42'\n"
    b"Path('/logs/verifier/reward.txt').write_text(str(int(good)))\n",
    "solution/solve.sh": b"awk '{s += $1} END {print s}' in.txt > out.txt\n",
}

OSWORLD_TASK: Mapping[str, Any] = {
    "id": "note",
    "snapshot": "own",
    "instruction": "Write the number of lines of list.txt in your home folder into count.txt there.",
    "config": [{"type": "execute", "parameters": {"command": "seq 42 > ~/list.txt", "shell": True}}],
    "evaluator": {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": "cat ~/count.txt", "shell": True},
        "expected": {"type": "rule", "rules": {"expected": "42\n"}},
    },
}
"""In the form of OSWorld's task files."""

CODE = "def double(number):\n    return number + number + 1\n"
FIXED = CODE.replace(" + 1", "")
TESTS = """import unittest

from calc import double


class DoubleTest(unittest.TestCase):
    def test_zero_or_more(self):
        self.assertGreaterEqual(double(0), 0)
"""
NEW_TEST = """
    def test_two(self):
        self.assertEqual(double(2), 4)
"""
GIT_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "own"), ("EMAIL", "own@example.test"), ("DATE", "2026-01-01T00:00:00Z"))
}


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def write_questions(folder: Path, start_page: str, hosts: Sequence[str], *, chinese: bool = False) -> Path:
    """A folder of one sealed question, in the form of BrowseComp or of BrowseComp-ZH."""
    question, answer = (CHINESE_QUESTION, CHINESE_ANSWER) if chinese else (QUESTION, ANSWER)
    names = ("Topic", "Question", "Answer", "canary") if chinese else ("problem_topic", "problem", "answer", "canary")
    row = (encrypt("own", CANARY), encrypt(question, CANARY), encrypt(answer, CANARY), CANARY)
    table = f"{','.join(names)}\n{','.join(row)}\n"
    return write_files(folder, {"questions.csv": table.encode(), "benchmark.toml": _settings(start_page, hosts)})


def write_web_task(folder: Path, website: str, hosts: Sequence[str]) -> Path:
    """A folder of one task in the form of Online-Mind2Web, with a recorded solution."""
    row: dict[str, Any] = {"task_id": "lamp", "confirmed_task": "Turn the lamp on.", "website": website}
    row |= {"reference_length": 1, "level": "easy"}
    act = {"kind": "click", "box": LAMP_BOX, "format": "xywh"}
    files = {
        "Own_Web.json": json.dumps([row]).encode(),
        "oracles/lamp.jsonl": json.dumps(act).encode(),
        "benchmark.toml": _settings(website, hosts),
    }
    return write_files(folder, files)


def write_osworld_task(folder: Path, evaluator: Mapping[str, Any] | None = None) -> Path:
    """A folder of one task file of OSWorld's form, with a recorded solution; its evaluator may be another."""
    task = {**OSWORLD_TASK, "evaluator": {**OSWORLD_TASK["evaluator"], **(evaluator or {})}}
    act = {"kind": "run_command", "command": "wc -l < ~/list.txt > ~/count.txt"}
    return write_files(folder, {"note.json": json.dumps(task).encode(), "oracles/note.jsonl": json.dumps(act).encode()})


def write_arena_task(folder: Path, evaluator: Mapping[str, Any] | None = None) -> Path:
    """The same for WindowsAgentArena, whose files have that form."""
    write_osworld_task(folder, evaluator)
    return write_files(folder, {"benchmark.toml": b'benchmark = "windows-agent-arena"\n'})


def write_repository_task(folder: Path, scratch: Path) -> Path:
    """A folder of one instance in the form of SWE-bench, whose repository a machine of ours builds."""
    commit = make_repository(scratch)
    row: dict[str, Any] = {
        "instance_id": "own__calc-1",
        "repo": "own/calc",
        "base_commit": commit,
        "problem_statement": "double(2) is 5 and should be 4.",
        "patch": diff(scratch, {"calc.py": FIXED}),
        "test_patch": diff(scratch, {"test_calc.py": TESTS + NEW_TEST}),
        "FAIL_TO_PASS": json.dumps(["test_two (test_calc.DoubleTest.test_two)"]),
        "PASS_TO_PASS": json.dumps(["test_zero_or_more (test_calc.DoubleTest.test_zero_or_more)"]),
        "test_cmd": "python3 -m unittest -v",
        "test_style": "unittest",
    }
    variables = "".join(f"ENV {name}={value}\n" for name, value in GIT_IDENTITY.items())
    dockerfile = f"FROM pilothouse-terminal\nWORKDIR /app\n{variables}COPY calc.py test_calc.py ./\nRUN {COMMIT}\n"
    environment = {"Dockerfile": dockerfile, "calc.py": CODE, "test_calc.py": TESTS}
    place = f"environments/{row['instance_id']}"
    return write_files(
        folder,
        {
            "instances.jsonl": json.dumps(row).encode() + b"\n",
            **{f"{place}/{name}": text.encode() for name, text in environment.items()},
        },
    )


COMMIT = "git init -q -b main . && git add -A && git commit -q -m base"


def make_repository(folder: Path) -> str:
    """The repository of the instance in a folder; its commit, which is the same everywhere."""
    write_files(folder, {"calc.py": CODE.encode(), "test_calc.py": TESTS.encode()})
    environment = {**os.environ, **GIT_IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(("sh", "-c", COMMIT), cwd=folder, env=environment, check=True, capture_output=True)
    head = subprocess.run(("git", "rev-parse", "HEAD"), cwd=folder, check=True, capture_output=True, text=True)
    return head.stdout.strip()


def diff(repository: Path, changed: Mapping[str, str]) -> str:
    """The patch that changes files so; the repository stays as it is."""
    before = {path: (repository / path).read_text() for path in changed}
    for path, text in changed.items():
        (repository / path).write_text(text)
    made = subprocess.run(("git", "diff"), cwd=repository, check=True, capture_output=True, text=True).stdout
    for path, text in before.items():
        (repository / path).write_text(text)
    return made


def _settings(start_page: str, hosts: Sequence[str]) -> bytes:
    return f"start_page = {json.dumps(start_page)}\nnetwork = {json.dumps(list(hosts))}\nmax_steps = 5\n".encode()
