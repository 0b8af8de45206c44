"""The command line of isolated programs: no network, no secret, nothing of the host that is not named."""

from pathlib import Path

from vm_bridge.isolation.isolated_program import PROGRAM, IsolatedProgram, isolated_command

MADE = IsolatedProgram(
    python=Path("/envs/one/bin/python"),
    venv="/run/env",
    program="/src/program.py",
    user=1234,
    writable={"/home/user": 5},
    environment={"HOME": "/home/user"},
    modules=("/src/beside.py",),
    mounts=("--bind", "/cache", "/home/user/cache"),
)


def test_a_program_has_no_network_another_user_and_only_what_is_named() -> None:
    command = isolated_command(MADE, 7)
    text = " ".join(command)
    assert command[:2] == ["setpriv", "--reuid=1234"]
    assert "--unshare-all" in command
    assert "--cap-drop ALL --seccomp 7" in text
    assert "--size 5 --tmpfs /home/user" in text
    assert "--ro-bind /src/beside.py /run/beside.py" in text
    assert text.endswith(f"--remount-ro / --clearenv --setenv HOME /home/user /run/env/bin/python -s -u {PROGRAM}")
    assert text.index("--tmpfs /home/user") < text.index("--bind /cache /home/user/cache") < text.index("--remount-ro")
