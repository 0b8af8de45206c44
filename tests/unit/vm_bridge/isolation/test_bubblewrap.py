"""What a sandbox's command line promises."""

from dataclasses import replace
from pathlib import Path

import pytest

from vm_bridge.isolation.bubblewrap import WRITABLE, SandboxConfig, bubblewrap_command
from vm_bridge.isolation.start_errors import explain_start_failure


@pytest.fixture
def config(tmp_path: Path) -> SandboxConfig:
    (tmp_path / "image" / "etc").mkdir(parents=True)
    (tmp_path / "image" / "etc" / "passwd").touch()
    return SandboxConfig(tmp_path / "image", tmp_path / "display", tmp_path / "egress", user=None, info=9)


def options(words: list[str], name: str) -> list[tuple[str, ...]]:
    """The arguments of every occurrence of a two-argument option."""
    return [tuple(words[place + 1 : place + 3]) for place, word in enumerate(words) if word == name]


def test_every_namespace_is_its_own_and_dies_with_the_bridge(config: SandboxConfig) -> None:
    words = bubblewrap_command(config, [])
    assert words[:2] == ["/bin/sh", "-c"]
    assert words[5] == "bwrap"
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--clearenv"} <= set(words)
    assert "--share-net" not in words


def test_only_its_socket_folder_is_writable_on_the_host(config: SandboxConfig) -> None:
    words = bubblewrap_command(config, [])
    assert options(words, "--bind") == [(str(config.display), "/run/vnc")]
    assert (str(config.egress), "/run/egress") in options(words, "--ro-bind")
    assert "--dev-bind" not in words


def test_every_writable_folder_is_bounded(config: SandboxConfig) -> None:
    words = bubblewrap_command(config, [])
    bounded = {words[place + 3] for place, word in enumerate(words) if word == "--size"}
    assert bounded == set(WRITABLE)
    assert {"/", "/dev"} <= {words[place + 1] for place, word in enumerate(words) if word == "--remount-ro"}


def test_the_image_replaces_what_names_the_host(config: SandboxConfig) -> None:
    assert (str(config.image / "etc" / "passwd"), "/etc/passwd") in options(bubblewrap_command(config, []), "--ro-bind")


def test_root_becomes_a_user_first(tmp_path: Path, config: SandboxConfig) -> None:
    words = bubblewrap_command(replace(config, user=70_001), [])
    assert words[5:7] == ["setpriv", "--reuid=70001"]
    assert "--clear-groups" in words[: words.index("bwrap")]


def test_control_groups_are_joined_before_anything_else(config: SandboxConfig) -> None:
    groups = (Path("/a/one"), Path("/b/two"))
    words = bubblewrap_command(replace(config, user=1, groups=groups), ["--link=3"])
    assert words[:2] == ["/bin/sh", "-c"]
    assert words[4] == "/a/one /b/two"
    assert words[-1] == "--link=3"


@pytest.mark.parametrize(
    "said",
    [
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow...",
        "bwrap: Creating new namespace failed: Operation not permitted",
        "bwrap: setting up uid map: Permission denied",
    ],
)
def test_forbidden_namespaces_come_with_advice(said: str) -> None:
    assert "sysctl" in explain_start_failure(said)


def test_other_last_words_are_passed_on() -> None:
    assert explain_start_failure("one\n  two\n") == "one two"
