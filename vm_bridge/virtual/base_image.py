"""Makes the disk a virtual machine boots from, out of Debian's packages, by mmdebstrap and mke2fs."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.errors import NoMachine

HERE = Path(__file__).parent
PACKAGES, INIT = HERE / "debian.txt", HERE / "init"
SUITE = "bookworm"
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "ext4")
"""What the kernel needs before it can read its disk, and the line to the host."""
EXCLUDED_PATHS = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*")
REQUIRED_PROGRAMS = ("mmdebstrap", "mke2fs", "qemu-img")
BUILD_TIMEOUT_SECONDS = 3600
DEFAULT_DISKS_FOLDER = HERE.parents[1] / ".data" / "disks"
"""Where disks are made once for all hosts of this machine."""


@dataclass(frozen=True)
class BaseImage:
    """A kernel, what it needs to find its disk, and the disk, which is only read."""

    folder: Path

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def disk(self) -> Path:
        return self.folder / "root.qcow2"


def prepare_base_image(disks: Path) -> BaseImage:
    """The base under `disks`, made on first use and when the list of packages changes: minutes. Raises NoMachine."""
    folder = disks / f"debian-{_fingerprint()}"
    if not folder.is_dir():
        missing = [name for name in REQUIRED_PROGRAMS if shutil.which(name) is None]
        if missing:
            raise NoMachine(f"{', '.join(missing)} not installed; install mmdebstrap e2fsprogs qemu-utils")
        disks.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".debian-", dir=disks) as scratch:
            made = Path(scratch) / "base"
            made.mkdir(mode=0o755)
            _build_disk(made, Path(scratch))
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():  # otherwise another process was faster
                    raise
    return BaseImage(folder.resolve())


def base_image_exists(disks: Path) -> bool:
    """Whether the base is there already."""
    return (disks / f"debian-{_fingerprint()}").is_dir()


def _build_disk(folder: Path, scratch: Path) -> None:
    root = scratch / "root"
    _run(
        *("mmdebstrap", "--variant=minbase", f"--include={','.join(read_package_list())}"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in EXCLUDED_PATHS),
        *("--essential-hook", f'sh {HERE / "initramfs.sh"} "$1" {" ".join(MODULES)}'),
        *("--customize-hook", f'install -D -m 755 {INIT} "$1/usr/lib/pilothouse/init" && mkdir "$1/image"'),
        *("--customize-hook", f'sh {HERE / "fonts.sh"} "$1"'),
        *(SUITE, str(root)),
    )
    for name, pattern in (("vmlinuz", "vmlinuz-*"), ("initrd", "initrd.img-*")):
        found = sorted((root / "boot").glob(pattern))
        if not found:
            raise NoMachine(f"the Debian packages brought no {name}")
        shutil.copyfile(found[-1], folder / name)
    shutil.rmtree(root / "boot")
    raw = scratch / "root.img"
    with raw.open("wb") as disk:
        disk.truncate(8 << 30)
    _run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", str(root), str(raw))
    _run("qemu-img", "convert", "-O", "qcow2", str(raw), str(folder / "root.qcow2"))


def read_package_list() -> list[str]:
    """The names in the list."""
    lines = PACKAGES.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _run(*command: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_SECONDS, check=False, env=environment
    )
    if done.returncode != 0:
        raise NoMachine(f"cannot make the disk: {command[0]} failed: {done.stderr.strip()[-800:]}")


def _fingerprint() -> str:
    sums = hashlib.sha256(repr((SUITE, MODULES, EXCLUDED_PATHS)).encode())
    for path in (PACKAGES, INIT, HERE / "initramfs.sh", HERE / "fonts.sh"):
        sums.update(path.read_bytes())
    return sums.hexdigest()[:16]
