"""What a sandbox's command line promises."""

from dataclasses import replace
from pathlib import Path

import pytest

from vm_bridge.hosts.advice import explain
from vm_bridge.hosts.confine import WRITABLE, Confinement, command


@pytest.fixture
def confined(tmp_path: Path) -> Confinement:
    (tmp_path / "image" / "etc").mkdir(parents=True)
    (tmp_path / "image" / "etc" / "passwd").touch()
    return Confinement(tmp_path / "image", tmp_path / "display", tmp_path / "egress", user=None, info=9)


def options(words: list[str], name: str) -> list[tuple[str, ...]]:
    """The arguments of every occurrence of a two-argument option."""
    return [tuple(words[place + 1 : place + 3]) for place, word in enumerate(words) if word == name]


def test_every_namespace_is_its_own_and_dies_with_the_bridge(confined: Confinement) -> None:
    words = command(confined, [])
    assert words[:2] == ["/bin/sh", "-c"]
    assert words[5] == "bwrap"
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--clearenv"} <= set(words)
    assert "--share-net" not in words


def test_only_its_socket_folder_is_writable_on_the_host(confined: Confinement) -> None:
    words = command(confined, [])
    assert options(words, "--bind") == [(str(confined.display), "/run/vnc")]
    assert (str(confined.egress), "/run/egress") in options(words, "--ro-bind")
    assert "--dev-bind" not in words


def test_every_writable_folder_is_bounded(confined: Confinement) -> None:
    words = command(confined, [])
    bounded = {words[place + 3] for place, word in enumerate(words) if word == "--size"}
    assert bounded == set(WRITABLE)
    assert {"/", "/dev"} <= {words[place + 1] for place, word in enumerate(words) if word == "--remount-ro"}


def test_the_image_replaces_what_names_the_host(confined: Confinement) -> None:
    assert (str(confined.image / "etc" / "passwd"), "/etc/passwd") in options(command(confined, []), "--ro-bind")


def test_root_becomes_a_user_first(tmp_path: Path, confined: Confinement) -> None:
    words = command(replace(confined, user=70_001), [])
    assert words[5:7] == ["setpriv", "--reuid=70001"]
    assert "--clear-groups" in words[: words.index("bwrap")]


def test_control_groups_are_joined_before_anything_else(confined: Confinement) -> None:
    groups = (Path("/a/one"), Path("/b/two"))
    words = command(replace(confined, user=1, groups=groups), ["--link=3"])
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
    assert "sysctl" in explain(said)


def test_other_last_words_are_passed_on() -> None:
    assert explain("one\n  two\n") == "one two"
