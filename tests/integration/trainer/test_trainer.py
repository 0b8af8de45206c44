"""The trainer's own tests, run where torch is."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.trainer import ensure_trainer

ROOT = Path(__file__).resolve().parents[3]
WITHIN = 3000
RUN = "import sys; sys.path.append(sys.argv.pop(1)); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
"""pytest and its like come from the platform's environment, after everything the trainer has itself."""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.xdist_group("servers")
def test_everything_that_needs_torch() -> None:
    python = ensure_trainer(Console())
    plugins = ("django", "xdist", "xdist.looponfail", "playwright", "rerunfailures", "cacheprovider")
    words = ["tests/trainer", "-q", "-c", os.devnull, "--rootdir=.", "--confcutdir=tests/trainer", "-W", "error"]
    words += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    words += [word for name in plugins for word in ("-p", f"no:{name}")]
    done = subprocess.run(
        [python, "-c", RUN, sysconfig.get_paths()["purelib"], *words],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout.splitlines()[-1]
