"""Makes a desktop and a page as the bridge's container does: under the filter of `docker/bridge-seccomp.json`.

    python unprivileged_machines.py PROFILE FOLDER

Prints one JSON object: this process's capabilities and filter, and what the machines said.
"""

import asyncio
import json
import sys
from pathlib import Path

import pyseccomp

from protocol.actions.types import RunCommand
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.sandbox import Host
from vm_bridge.suites.registry import WEB_SUITES

COMPARE = {"SCMP_CMP_EQ": pyseccomp.EQ, "SCMP_CMP_GT": pyseccomp.GT}


def apply_profile(path: Path) -> None:
    """Put this process under a profile of a container engine's, as the engine does."""
    profile = json.loads(path.read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ERRNO"
        arguments = [pyseccomp.Arg(each["index"], COMPARE[each["op"]], each["value"]) for each in rule.get("args", ())]
        for name in rule["names"]:
            try:
                rules.add_rule(pyseccomp.ERRNO(rule["errnoRet"]), name, *arguments)
            except (ValueError, OSError, RuntimeError):
                continue  # engines skip what this architecture does not know, too
    rules.load()


async def first_look(host: Host, image: str) -> str:
    """What is said by a machine of an image that is asked to count, or by a page that is looked at."""
    try:
        sandbox = await host.create(image)
        machine = sandbox.bind(1)
        await machine.observe()
        if image != "desktop":
            return "seen"
        done = await machine.perform("command-1", RunCommand(command="echo $((6 * 7)); id -u"))
        return done.error.message if done.error else done.after.text or ""
    finally:
        await host.close()


def own_rights() -> dict[str, str]:
    """The lines of this process's status about its rights."""
    lines = (line.partition(":\t")[::2] for line in Path("/proc/self/status").read_text().splitlines())
    return {name: text for name, text in lines if name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Uid")}


async def look_at_both(data: Path) -> dict[str, str]:
    """What a desktop and a browser say."""
    return {
        "desktop": await first_look(LocalHost(data), "desktop"),
        "browser": await first_look(BrowserHost(data / "browsers", WEB_SUITES, engines=1), "browser"),
    }


if __name__ == "__main__":
    apply_profile(Path(sys.argv[1]))
    print(json.dumps(own_rights() | asyncio.run(look_at_both(Path(sys.argv[2])))))
