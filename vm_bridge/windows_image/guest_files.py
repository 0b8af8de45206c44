"""What the medium brings into Windows: Python, our agent, the task that starts it, and the script that installs
them."""

import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

from vm_bridge.guest.windows.pack import pack
from vm_bridge.python_packages import windows_install
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.settings import (
    AGENT_PORT,
    FILES_ARCHIVE,
    FOLDER,
    MEDIUM_FOLDER,
    PYTHON,
    USER,
    ImageSettings,
)

GUEST = Path(__file__).parent.parent / "guest" / "windows"
LOCKS = (GUEST / "requirements.lock", GUEST / "tools.lock")
"""The agent's packages and those of its toolbox, with the hashes of their files."""
PACKAGES_FOLDER = "Lib/site-packages"
INSTALL_SECONDS = 600.0
TASK_NAME = "Pilothouse"
TASK_NAMESPACE = "http://schemas.microsoft.com/windows/2004/02/mit/task"
READY, FAILED, PREFIX = "ready", "failed", "pilothouse"
"""Words on the serial line: the prefix, then a step's name, `ready`, or `failed` and the step's name."""
CHECK = "if not %errorlevel%==0 goto failed"
CURRENT_USER_VALUES = (
    (r"HKCU\Control Panel\Desktop", "CursorBlinkRate", "REG_SZ", "-1"),
    (r"HKCU\Control Panel\Desktop", "ScreenSaveActive", "REG_SZ", "0"),
    (r"HKCU\Control Panel\Desktop\WindowMetrics", "MinAnimate", "REG_SZ", "0"),
    (r"HKCU\Software\Microsoft\Windows\CurrentVersion\Explorer\VisualEffects", "VisualFXSetting", "REG_DWORD", "2"),
    (r"HKCU\Software\Microsoft\Windows\CurrentVersion\PushNotifications", "ToastEnabled", "REG_DWORD", "0"),
)
"""A caret that does not blink, no screen saver, no animations, no notifications."""
WINLOGON = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon"
SUPERVISOR = """\
import subprocess, sys, time

while True:
    subprocess.call([sys.executable, *{words!r}])
    time.sleep(2)
"""
"""The agent ends when the screen's size changes, and is started again."""


def python_version(package: Path) -> str:
    """`3.12` of python.org's embeddable package for Windows. Raises ImageError."""
    try:
        with zipfile.ZipFile(package) as archive:
            names = set(archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise ImageError("python_not_windows", f"{package} cannot be read: {error}") from error
    paths = [name for name in names if name.startswith("python3") and name.endswith("._pth")]
    if len(paths) != 1 or not {"python.exe", "pythonw.exe"} <= names:
        raise ImageError(
            "python_not_windows", f"{package} is not python.org's embeddable package (python-3.x.y-embed-amd64.zip)"
        )
    return f"3.{paths[0].removeprefix('python3').removesuffix('._pth')}"


def install_packages(version: str, folder: Path) -> None:
    """The agent's packages for that Python on Windows, into a folder. Raises ImageError."""
    command = windows_install(folder, version, *LOCKS)
    done = subprocess.run(
        command.words,
        env=command.merged_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS,
    )
    if done.returncode != 0:
        raise ImageError("packages_failed", f"the agent's packages cannot be had: {done.stderr.strip()[-800:]}")


def write_archive(settings: ImageSettings, packages: Path, path: Path) -> None:
    """All that goes into `FOLDER`, as one zip, which holds the secret."""
    agent = path.with_suffix(".pyz")
    pack(agent, settings.secret)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with zipfile.ZipFile(settings.python) as python:
            for name in python.namelist():
                data = python.read(name)
                archive.writestr(f"python/{name}", search_path(name) if name.endswith("._pth") else data)
        for each in sorted(packages.rglob("*")):
            if each.is_file():
                archive.write(each, f"python/{PACKAGES_FOLDER}/{each.relative_to(packages).as_posix()}")
        archive.write(agent, "pilothouse.pyz")
        archive.writestr("start.pyw", supervisor(settings))
        archive.writestr("task.xml", task_definition())
    agent.unlink()


def search_path(name: str) -> bytes:
    """The `._pth` file of the embeddable package, by which it also finds the agent's packages and runs their `.pth`
    files, which pywin32 needs."""
    library = name.removesuffix("._pth")
    return f"{library}.zip\r\n.\r\nLib\\site-packages\r\nimport site\r\n".encode()


def supervisor(settings: ImageSettings) -> str:
    """The program that the task starts."""
    words = [rf"{FOLDER}\pilothouse.pyz", "--shell", settings.shell, "--log", rf"{FOLDER}\log.txt"]
    return SUPERVISOR.format(words=words)


def task_definition() -> bytes:
    """The task that starts the agent in the user's session, as the Task Scheduler imports it."""
    ET.register_namespace("", TASK_NAMESPACE)
    task = ET.Element(_task_name("Task"), {"version": "1.2"})
    _group(_group(task, "Triggers"), "LogonTrigger", Enabled="true", UserId=USER)
    principal = _group(
        _group(task, "Principals"),
        "Principal",
        UserId=USER,
        LogonType="InteractiveToken",
        RunLevel="HighestAvailable",
    )
    principal.set("id", "Author")
    _group(
        task,
        "Settings",
        MultipleInstancesPolicy="IgnoreNew",
        DisallowStartIfOnBatteries="false",
        StopIfGoingOnBatteries="false",
        ExecutionTimeLimit="PT0S",
        Priority="4",
    )
    actions = _group(task, "Actions")
    actions.set("Context", "Author")
    _group(actions, "Exec", Command=PYTHON, Arguments=rf"{FOLDER}\start.pyw", WorkingDirectory=FOLDER)
    data: bytes = ET.tostring(task, encoding="utf-16", xml_declaration=True)
    return data


def setup_script(settings: ImageSettings) -> bytes:
    """The script that the first logon runs. It says each step on the serial line and stops at the first that fails."""
    archive = rf"%~d0\{MEDIUM_FOLDER}\{FILES_ARCHIVE}"
    rule = f"name=Pilothouse dir=in action=allow protocol=TCP localport={AGENT_PORT}"
    steps: dict[str, list[str]] = {
        "files": [f"tar -xf {archive} -C {FOLDER}"],
        "rights": [f'icacls {FOLDER} /inheritance:r /grant "*S-1-5-32-544:(OI)(CI)F" "*S-1-5-18:(OI)(CI)F" /q'],
        "python": [rf'{FOLDER}\python\python.exe -c "import pyautogui, PIL, pyperclip, pyte, mcp, jupyter_client"'],
        "firewall": [f"netsh advfirewall firewall add rule {rule}"],
        "task": [rf"schtasks /create /tn {TASK_NAME} /xml {FOLDER}\task.xml /f"],
        "power": ["powercfg /change monitor-timeout-ac 0", "powercfg /change standby-timeout-ac 0"],
        "logon": [_registry(*value) for value in _logon_values(settings)],
        "user": [_registry(*value) for value in CURRENT_USER_VALUES],
    }
    lines = ["@echo off", "mode COM1: baud=115200 parity=n data=8 stop=1 >nul", f"echo {PREFIX} begin>COM1"]
    lines += [f"mkdir {FOLDER} >nul 2>&1"]  # it may be there
    for name, commands in steps.items():
        lines += [f"set STEP={name}"]
        lines += [line for command in commands for line in (f"{command} >nul 2>&1", CHECK)]
        lines += [f"echo {PREFIX} %STEP%>COM1"]
    lines += [f"echo {PREFIX} {READY}>COM1", "shutdown /s /t 5 /f", "exit /b 0"]
    lines += [":failed", f"echo {PREFIX} {FAILED} %STEP%>COM1", "exit /b 1"]
    return "".join(f"{line}\r\n" for line in lines).encode()


def _logon_values(settings: ImageSettings) -> tuple[tuple[str, str, str, str], ...]:
    """The user is signed in by itself from now on, not only once as the answer file has it."""
    return (
        (WINLOGON, "AutoAdminLogon", "REG_SZ", "1"),
        (WINLOGON, "DefaultUserName", "REG_SZ", USER),
        (WINLOGON, "DefaultPassword", "REG_SZ", settings.password),
    )


def _registry(key: str, name: str, kind: str, value: str) -> str:
    return f'reg add "{key}" /v {name} /t {kind} /d {value} /f'


def _group(parent: ET.Element, name: str, **values: str) -> ET.Element:
    element = ET.SubElement(parent, _task_name(name))
    for field, value in values.items():
        ET.SubElement(element, _task_name(field)).text = value
    return element


def _task_name(name: str) -> str:
    return f"{{{TASK_NAMESPACE}}}{name}"
