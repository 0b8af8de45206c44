"""The answer file, the script and the task that go into Windows."""

import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from vm_bridge.python_packages import Command
from vm_bridge.windows_image import guest_files
from vm_bridge.windows_image.answer_file import ACTIONS, NAMESPACE, answer_file, first_logon_command
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.guest_files import (
    TASK_NAMESPACE,
    python_version,
    setup_script,
    supervisor,
    task_definition,
    write_archive,
)
from vm_bridge.windows_image.settings import USER, ImageSettings, Screen

SETTINGS = ImageSettings(
    Path("windows.iso"), Path("python.zip"), Path("out"), screen=Screen(1024, 768), secret="s" * 64, password="Pw1-x"
)
NAMES = {"u": NAMESPACE}
PASSES = {
    "windowsPE": {"Microsoft-Windows-International-Core-WinPE", "Microsoft-Windows-Setup"},
    "specialize": {"Microsoft-Windows-Shell-Setup", "Microsoft-Windows-Deployment"},
    "oobeSystem": {"Microsoft-Windows-International-Core", "Microsoft-Windows-Shell-Setup"},
}


@pytest.fixture
def answers() -> ET.Element:
    return ET.fromstring(answer_file(SETTINGS))


def texts(root: ET.Element, path: str) -> list[str]:
    return [each.text or "" for each in root.findall("/".join(f"u:{part}" for part in path.split("/")), NAMES)]


def component(root: ET.Element, settings_pass: str, name: str) -> ET.Element:
    (found,) = root.findall(f"u:settings[@pass='{settings_pass}']/u:component[@name='{name}']", NAMES)
    return found


def test_every_pass_has_its_components_for_64_bit_windows(answers: ET.Element) -> None:
    assert answers.tag == f"{{{NAMESPACE}}}unattend"
    found = {
        each.get("pass"): {one.get("name") for one in each.findall("u:component", NAMES)}
        for each in answers.findall("u:settings", NAMES)
    }
    assert found == PASSES
    for each in answers.iterfind(".//u:component", NAMES):
        identity = {key: each.get(key) for key in ("processorArchitecture", "publicKeyToken", "language")}
        assert identity == {
            "processorArchitecture": "amd64",
            "publicKeyToken": "31bf3856ad364e35",
            "language": "neutral",
        }
        assert each.get("versionScope") == "nonSxS"


def test_the_disk_is_wiped_and_has_one_active_partition_that_windows_goes_to(answers: ET.Element) -> None:
    setup = component(answers, "windowsPE", "Microsoft-Windows-Setup")
    disk = "DiskConfiguration/Disk"
    assert texts(setup, f"{disk}/WillWipeDisk") == ["true"]
    assert texts(setup, f"{disk}/CreatePartitions/CreatePartition/Extend") == ["true"]
    assert texts(setup, f"{disk}/ModifyPartitions/ModifyPartition/Active") == ["true"]
    assert texts(setup, f"{disk}/ModifyPartitions/ModifyPartition/Format") == ["NTFS"]
    assert texts(setup, "ImageInstall/OSImage/InstallTo/PartitionID") == ["1"]
    assert texts(setup, "ImageInstall/OSImage/InstallFrom/MetaData/Value") == ["1"]
    assert texts(setup, "UserData/AcceptEula") == ["true"]
    assert texts(setup, "UserData/ProductKey/Key") == []


def test_the_requirements_of_windows_11_are_not_checked(answers: ET.Element) -> None:
    setup = component(answers, "windowsPE", "Microsoft-Windows-Setup")
    commands = " ".join(texts(setup, "RunSynchronous/RunSynchronousCommand/Path"))
    for check in ("TPM", "SecureBoot", "RAM", "CPU", "Storage"):
        assert f'LabConfig" /v Bypass{check}Check /t REG_DWORD /d 1' in commands


def test_a_local_administrator_is_signed_in_by_itself_and_asked_nothing(answers: ET.Element) -> None:
    shell = component(answers, "oobeSystem", "Microsoft-Windows-Shell-Setup")
    assert texts(shell, "AutoLogon/Username") == texts(shell, "UserAccounts/LocalAccounts/LocalAccount/Name") == [USER]
    assert texts(shell, "AutoLogon/Password/Value") == ["Pw1-x"]
    assert texts(shell, "UserAccounts/LocalAccounts/LocalAccount/Group") == ["Administrators"]
    for page in ("HideEULAPage", "HideOnlineAccountScreens", "HideWirelessSetupInOOBE"):
        assert texts(shell, f"OOBE/{page}") == ["true"]
    assert texts(shell, "Display/HorizontalResolution") == ["1024"]
    assert texts(shell, "Display/VerticalResolution") == ["768"]
    assert texts(shell, "FirstLogonCommands/SynchronousCommand/CommandLine") == [first_logon_command()]


def test_every_item_of_a_list_is_added_and_commands_have_an_order(answers: ET.Element) -> None:
    for name in ("Disk", "CreatePartition", "LocalAccount", "SynchronousCommand", "RunSynchronousCommand", "MetaData"):
        items = answers.findall(f".//u:{name}", NAMES)
        assert items
        assert all(each.get(f"{{{ACTIONS}}}action") == "add" for each in items)
    for group in answers.findall(".//u:RunSynchronous", NAMES):
        orders = [each.text for each in group.findall("u:RunSynchronousCommand/u:Order", NAMES)]
        assert orders == [str(number) for number in range(1, len(orders) + 1)]


def test_updates_locks_and_questions_of_rights_are_off(answers: ET.Element) -> None:
    deployment = component(answers, "specialize", "Microsoft-Windows-Deployment")
    commands = texts(deployment, "RunSynchronous/RunSynchronousCommand/Path")
    for name, value in (("NoAutoUpdate", 1), ("NoLockScreen", 1), ("ConsentPromptBehaviorAdmin", 0)):
        assert any(f"/v {name} /t REG_DWORD /d {value} /f" in command for command in commands)
    assert all(len(command) < 260 for command in commands), "Windows' Setup takes no longer ones"


def test_a_product_key_is_given_where_there_is_one() -> None:
    root = ET.fromstring(answer_file(replace(SETTINGS, product_key="AAAAA-BBBBB", edition=6)))
    setup = component(root, "windowsPE", "Microsoft-Windows-Setup")
    assert texts(setup, "UserData/ProductKey/Key") == ["AAAAA-BBBBB"]
    assert texts(setup, "ImageInstall/OSImage/InstallFrom/MetaData/Value") == ["6"]


def test_the_script_tells_each_step_and_stops_at_the_first_that_fails() -> None:
    lines = setup_script(SETTINGS).decode().split("\r\n")
    assert [line.removeprefix("set STEP=") for line in lines if line.startswith("set ")] == [
        *("files", "rights", "python", "firewall", "task", "power", "logon", "user")
    ]
    commands = [line for line, after in pairwise(lines) if after == "if not %errorlevel%==0 goto failed"]
    assert all(line.endswith(" >nul 2>&1") for line in commands)
    assert len(commands) == 15
    assert lines[lines.index(":failed") + 1] == "echo pilothouse failed %STEP%>COM1"
    assert lines.index("echo pilothouse ready>COM1") > lines.index(commands[-1])
    assert r'python.exe -c "import pyautogui, PIL, pyperclip, pyte, mcp, jupyter_client" >nul' in "\n".join(lines)
    assert "localport=8015" in "\n".join(lines)
    for path in (r"C:\pilothouse", "secret", SETTINGS.secret):
        assert (path in "\n".join(lines)) is (path == r"C:\pilothouse")


def test_the_task_starts_the_agent_in_the_session_with_all_rights_and_without_end() -> None:
    names = {"t": TASK_NAMESPACE}
    task = ET.fromstring(task_definition())
    for path, text in (
        ("Triggers/LogonTrigger/UserId", USER),
        ("Principals/Principal/LogonType", "InteractiveToken"),
        ("Principals/Principal/RunLevel", "HighestAvailable"),
        ("Settings/ExecutionTimeLimit", "PT0S"),
        ("Settings/DisallowStartIfOnBatteries", "false"),
        ("Actions/Exec/Command", r"C:\pilothouse\python\pythonw.exe"),
        ("Actions/Exec/Arguments", r"C:\pilothouse\start.pyw"),
    ):
        (found,) = task.findall("/".join(f"t:{part}" for part in path.split("/")), names)
        assert found.text == text
    compile(supervisor(SETTINGS), "start.pyw", "exec")
    assert "pilothouse.pyz" in supervisor(SETTINGS)


def python_package(path: Path, names: tuple[str, ...] = ("python.exe", "pythonw.exe", "python312._pth")) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_the_archive_has_python_its_packages_and_the_agent(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "PIL").mkdir(parents=True)
    (packages / "PIL" / "Image.py").write_text("image")
    settings = replace(SETTINGS, python=python_package(tmp_path / "python.zip"))
    write_archive(settings, packages, tmp_path / "files.zip")
    with zipfile.ZipFile(tmp_path / "files.zip") as archive:
        names = set(archive.namelist())
        assert archive.read("python/python312._pth") == b"python312.zip\r\n.\r\nLib\\site-packages\r\nimport site\r\n"
        assert archive.read("python/Lib/site-packages/PIL/Image.py") == b"image"
    assert {"python/pythonw.exe", "pilothouse.pyz", "start.pyw", "task.xml"} <= names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files.zip", "packages", "python.zip"]


def test_only_the_embeddable_package_of_python_is_taken(tmp_path: Path) -> None:
    assert python_version(python_package(tmp_path / "right.zip")) == "3.12"
    wrong = python_package(tmp_path / "wrong.zip", ("python.exe",))
    (tmp_path / "text.zip").write_text("no archive")
    for path in (wrong, tmp_path / "text.zip", tmp_path / "missing.zip"):
        with pytest.raises(ImageError) as failed:
            python_version(path)
        assert failed.value.code == "python_not_windows"


def test_packages_that_cannot_be_had_are_an_error_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Command(("sh", "-c", "echo no index >&2; exit 1"))
    monkeypatch.setattr(guest_files, "windows_install", lambda *_: failing)
    with pytest.raises(ImageError, match="no index") as failed:
        guest_files.install_packages("3.12", tmp_path / "packages")
    assert failed.value.code == "packages_failed"
