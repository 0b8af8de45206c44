"""What an image of Windows is made of, and the names on its disk."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

USER = "annotator"
FOLDER = r"C:\pilothouse"
PYTHON = rf"{FOLDER}\python\pythonw.exe"
MEDIUM_FOLDER, SETUP_SCRIPT, FILES_ARCHIVE = "pilothouse", "setup.cmd", "files.zip"
"""On the medium with the answers."""
DISK_FILE, MANIFEST_FILE, SECRET_FILE = "disk.qcow2", "image.json", "secret"
"""Of a made image."""
AGENT_PORT = 8015


def _make_password() -> str:
    """It meets Windows' rules; the user is signed in by itself, so no person types it."""
    return f"Pw1-{secrets.token_hex(12)}"


@dataclass(frozen=True)
class Screen:
    """In pixels."""

    width: int = 1280
    height: int = 800


@dataclass(frozen=True)
class ImageSettings:
    """One image. `python` is python.org's embeddable package for Windows (zip), `iso` is Microsoft's medium."""

    iso: Path
    python: Path
    out: Path
    edition: int = 1
    """Number of the Windows edition on the medium, from 1; an evaluation medium has one."""
    product_key: str = ""
    """None on evaluation media."""
    screen: Screen = Screen()
    language: str = "en-US"
    keyboard: str = "0409:00000409"
    """Windows' input locale of the language and its keyboard."""
    shell: str = "powershell"
    disk_gib: int = 64
    memory_mib: int = 6144
    cores: int = 4
    timeout_minutes: int = 120
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    password: str = field(default_factory=_make_password, repr=False)
    qemu: str = "qemu-system-x86_64"
    qemu_img: str = "qemu-img"
    needs_kvm: bool = True
    """Emulated, an installation takes a day; tests have a stand-in for QEMU."""
