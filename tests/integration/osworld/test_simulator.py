"""The calls of the simulated guest that OSWorld's controllers make beside those of acts and task files."""

import shutil
from collections.abc import Iterator

import httpx
import pytest

from vm_bridge.simulators.osworld.process import simulated_guest

pytestmark = pytest.mark.skipif(shutil.which("Xtigervnc") is None, reason="needs Xtigervnc")


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        simulated_guest(tmp_path_factory.mktemp("guest")) as address,
        httpx.Client(base_url=f"http://{address}", trust_env=False, timeout=60) as client,
    ):
        yield client


def test_a_script_runs_in_its_folder_until_its_time_is_over(guest: httpx.Client) -> None:
    ran = guest.post("/run_bash_script", json={"script": "pwd; echo no >&2; exit 3", "working_dir": "/usr"}).json()
    assert (ran["output"], ran["error"], ran["returncode"]) == ("/usr\n", "no\n", 3)
    late = guest.post("/run_bash_script", json={"script": "sleep 600", "timeout": 1})
    assert (late.status_code, late.json()["returncode"]) == (500, -1)


def test_a_python_program_runs(guest: httpx.Client) -> None:
    assert guest.post("/run_python", json={"code": "print(6 * 7)"}).json()["output"] == "42\n"
    failed = guest.post("/run_python", json={"code": "raise ValueError('why')"})
    assert failed.status_code == 500
    assert "why" in failed.json()["error"]


def test_windows_have_sizes_and_a_place_in_the_tree(guest: httpx.Client) -> None:
    size = guest.post("/window_size", data={"app_class_name": "XTerm"}).json()
    assert size["width"] > 100
    assert guest.post("/window_size", data={"app_class_name": "Nothing"}).status_code == 404
    tree = guest.get("/accessibility").json()["AT"]
    assert f"({size['width']}, {size['height']})" in tree
    assert '<application name="XTerm">' in tree


def test_a_command_is_verified_by_what_it_brings_about(guest: httpx.Client) -> None:
    asked = {"command": "touch there", "shell": True, "check_interval": 0.1}
    verified = asked | {"verification": {"command_success": "test -e there"}}
    assert guest.post("/setup/execute_with_verification", json=verified).status_code == 200
    in_vain = asked | {"verification": {"window_exists": "Nothing"}, "max_wait_time": 0}
    assert guest.post("/setup/execute_with_verification", json=in_vain).status_code == 500


def test_a_folder_that_links_to_itself_has_an_end(guest: httpx.Client) -> None:
    desktop = guest.post("/desktop_path").json()["desktop_path"]
    script = f"cd {desktop} && mkdir -p one && touch one/a && ln -sfn {desktop} one/back"
    assert guest.post("/run_bash_script", json={"script": script}).json()["returncode"] == 0
    tree = guest.post("/list_directory", json={"path": f"{desktop}/one"}).json()["directory_tree"]
    found = {child["name"]: (child["type"], child.get("children")) for child in tree["children"]}
    assert found == {"a": ("file", None), "back": ("directory", [])}


def test_the_wallpaper_is_the_file_that_was_chosen(guest: httpx.Client) -> None:
    assert guest.post("/wallpaper").status_code == 404
    assert guest.post("/setup/change_wallpaper", json={"path": "/nowhere"}).status_code == 404
    guest.post("/run_bash_script", json={"script": "echo picture > ~/wall"})
    assert guest.post("/setup/change_wallpaper", json={"path": "~/wall"}).status_code == 200
    assert guest.post("/wallpaper").content == b"picture\n"


def test_only_addresses_of_the_web_are_fetched(guest: httpx.Client) -> None:
    desktop = guest.post("/desktop_path").json()["desktop_path"]
    answer = guest.post("/setup/download_file", json={"url": "file:///etc/hostname", "path": f"{desktop}/fetched"})
    assert answer.status_code == 500
    assert "only http and https" in answer.text
    assert guest.post("/file", data={"file_path": f"{desktop}/fetched"}).status_code == 404
