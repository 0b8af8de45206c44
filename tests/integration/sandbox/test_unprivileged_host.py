"""A user without capabilities makes desktops and browsers under the filter of the compose file's bridge."""

import json
import os
import subprocess
import sys
import tempfile

import pytest

from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.images.tools import INSTALLED_FOLDER, prepare_tools

USER = 10_001
PROFILE = ROOT / "docker" / "bridge-seccomp.json"
WITHOUT_RIGHTS = (
    *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"),
    *("--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"),
)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_machines_are_made_without_privileges() -> None:
    prepare_tools(INSTALLED_FOLDER)  # the other user may not write there
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, USER, USER)
        said = subprocess.run(
            [*WITHOUT_RIGHTS, sys.executable, "-m", "tests.integration.sandbox.unprivileged_machines", PROFILE, folder],
            cwd=ROOT, env={**os.environ, "HOME": folder, "TMPDIR": folder},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert said.returncode == 0, said.stderr
    told = json.loads(said.stdout.splitlines()[-1])
    assert int(told["CapEff"], 16) == int(told["CapBnd"], 16) == 0
    assert (told["NoNewPrivs"], told["Seccomp"], told["Uid"].split()[0]) == ("1", "2", str(USER))
    assert told["desktop"].split() == ["42", "1000"]
    assert told["browser"] == "seen"
