"""Files of a container, by the shell and the few tools that every image with a shell has."""

import re
from collections.abc import Sequence

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.files import MAX_ENTRIES, Entry, kind_of
from vm_bridge.hosts.docker.container_exec import ContainerExec

FILE_SECONDS = 60.0
MAX_LISTING_BYTES = 8 * 2**20
MAX_MESSAGE_CHARACTERS = 300
PLACE = 'case "$1" in "~") p=$HOME;; "~/"*) p=$HOME/${1#"~/"};; -*) p=./$1;; *) p=$1;; esac; '
"""`p` is the path that is meant; relative ones begin at the image's WORKDIR."""
REGULAR = '[ -e "$p" ] || { echo "No such file or directory" >&2; exit 1; }; [ -f "$p" ] || { echo "it is not a regular file" >&2; exit 1; }; '  # noqa: E501
LIST = (
    'cd -- "$p" || exit 1; n=0; for f in ./* ./.[!.]* ./..?*; do [ -e "$f" ] || [ -L "$f" ] || continue; '
    'n=$((n + 1)); [ "$n" -le "$2" ] || break; printf "%s/" "${f#./}"; stat -c "%f %s %Y" "$f" || exit 1; done; exit 0'
)
STAT = 'printf "%s/" "${p##*/}"; stat -L -c "%f %s %Y" "$p"'
READ = REGULAR + 'if [ "$3" = 0 ]; then head -c "$2" "$p"; else tail -c +"$(($3 + 1))" "$p" | head -c "$2"; fi'
WRITE = (
    'case "$p" in */*) d=${p%/*}/; b=${p##*/};; *) d=./; b=$p;; esac; '
    '[ ! -d "$p" ] || { echo "Is a directory" >&2; exit 1; }; '
    'mkdir -p "$d" && t=$d.$b.writing && rm -f "$t" && (set -C; cat > "$t") && '
    '{ [ ! -e "$p" ] || chmod "$(stat -L -c %a "$p")" "$t"; } && mv -f "$t" "$p" || { rm -f "$t"; exit 1; }'
)
DELETE = 'if [ ! -d "$p" ] || [ -L "$p" ]; then rm -- "$p"; elif [ "$2" = yes ]; then rm -r "$p"; else rmdir "$p"; fi'
_ENTRY = re.compile(rb"([^/]*)/([0-9a-f]+) ([0-9]+) (-?[0-9]+)\n")


class ContainerFiles:
    """See `vm_bridge.guest.common.files.FileSystem`; everything is done as the image's user."""

    def __init__(self, container: ContainerExec) -> None:
        self._container = container

    def entries(self, path: str) -> list[Entry]:
        """The entries of a folder by name, at most one more than there may be."""
        told = self._run("cannot_list", LIST, path, str(MAX_ENTRIES + 1), most=MAX_LISTING_BYTES)
        return sorted(_entries(told), key=lambda entry: str(entry["name"]))

    def entry_of(self, path: str) -> Entry:
        found = _entries(self._run("cannot_read", STAT, path))
        if not found:
            raise ActionFailed("cannot_read", f"{path}: it cannot be looked at")
        return found[0]

    def read_bytes(self, path: str, most: int, offset: int = 0) -> bytes:
        return self._run("cannot_read", READ, path, str(most), str(offset), most=most)

    def write_bytes(self, path: str, data: bytes) -> None:
        self._run("cannot_write", WRITE, path, stdin=data)

    def delete(self, path: str, *, recursive: bool) -> None:
        self._run("cannot_delete", DELETE, path, "yes" if recursive else "no")

    def _run(
        self, code: str, script: str, path: str, *more: str, stdin: bytes | None = None, most: int = 65_536
    ) -> bytes:
        argv: Sequence[str] = ("sh", "-c", PLACE + script, "sh", path, *more)
        ran = self._container.run(argv, timeout=FILE_SECONDS, stdin=stdin, most=most)
        if ran.code is None:
            raise ActionFailed(code, f"{path}: it took longer than {FILE_SECONDS:g} s")
        if ran.code != 0:
            lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = lines[-1][-MAX_MESSAGE_CHARACTERS:] if lines else f"exit status {ran.code}"
            raise ActionFailed(code, f"{path}: {reason}")
        return ran.stdout


def _entries(told: bytes) -> list[Entry]:
    """Each entry is encoded as its name, a slash, its mode, size and time: no name contains a slash."""
    return [
        {
            "name": match[1].decode("utf-8", "replace"),
            "kind": kind_of(int(match[2], 16)),
            "size": int(match[3]),
            "modified": float(match[4]),
        }
        for match in _ENTRY.finditer(told)
    ]
