"""The inside of a task's container, for acts, programs and suites; nothing of it happens where this runs."""

import base64
import sys

from vm_bridge.guest.common.actions import MAX_OUTPUT, Action, ActionFailed, ActionOutput, bounded_text
from vm_bridge.guest.common.machine_io import CallHandler, MachineIO, Message
from vm_bridge.guest.linux.shell import InterruptFlag
from vm_bridge.guest.linux.terminals.client import TerminalClient
from vm_bridge.hosts.docker.container_exec import ContainerExec
from vm_bridge.hosts.docker.container_files import ContainerFiles
from vm_bridge.hosts.docker.engine import ContainerEngine

TASK_KINDS = (
    *("wait", "run_command", "type_terminal", "list_files", "read_file", "write_file", "edit_file"),
    *("upload_file", "download_file"),
)
"""What can be done in a container that has nothing of ours."""
FIND_SHELL = "command -v bash || command -v sh"
SHELL_SECONDS = 30.0
EMPTY_SCRIPT = 'rm -rf "$1"/* "$1"/.[!.]* "$1"/..?* && mkdir -p "$1" && chmod 1777 "$1"'


class TaskIO(MachineIO):
    """See `MachineIO`; commands are the image's shell's, `bash` where it has it."""

    def __init__(self, engine: ContainerEngine, name: str) -> None:
        self._engine, self.container = engine, ContainerExec(engine, name)
        self._container_files = ContainerFiles(self.container)
        super().__init__(self._container_files)
        self._terminals = TerminalClient((sys.executable, "-m", "vm_bridge.hosts.docker.task_terminals", name))
        self._interrupt_flag = InterruptFlag()
        self._shell: str | None = None
        self.action_handlers |= {"run_command": self._run_command, "type_terminal": self._terminals.type}
        self.call_handlers |= self._terminals.call_handlers | {
            "files.watch": _unsupported("news of folders"),
            "files.unwatch": lambda call: {},
            "tools.configure": _unsupported("MCP servers"),
            "windows.titles": lambda call: {"titles": []},
            "tools.list": lambda call: {"tools": [], "failures": {}},
        }

    def interrupt(self) -> None:
        self._interrupt_flag.set()
        self._terminals.interrupt()

    def terminal(self) -> str:
        return self._terminals.text()

    def shell(self) -> str:
        """The shell that the image has. Raises ActionFailed."""
        if self._shell is None:
            found = self.container.run(("sh", "-c", FIND_SHELL), timeout=SHELL_SECONDS)
            self._shell = found.stdout.decode("utf-8", "replace").strip() or "sh"
        return self._shell

    def _run_command(self, action: Action) -> ActionOutput:
        self._interrupt_flag.clear()  # what was cut short is over
        argv = (self.shell(), "-c", action["command"])
        ran = self.container.run(argv, timeout=action["timeout"], interrupt=self._interrupt_flag)
        text = bounded_text(ran.output)
        if ran.cut_short:
            raise ActionFailed("cut_short", "the command was cut short", text)
        if ran.code is None:
            raise ActionFailed("timed_out", f"the command did not end within {action['timeout']:g} s", text)
        return ActionOutput(text if ran.code == 0 else f"{text}\n[exit status {ran.code}]".lstrip("\n"))

    # --- for suites

    def run(self, call: Message) -> Message:
        """A command's exit status (None when its time ran out) and output."""
        try:
            ran = self.container.run(call["argv"], timeout=call["seconds"])
        except ActionFailed as failure:
            return {"code": 127, "output": str(failure)}
        return {"code": ran.code, "output": ran.output[:MAX_OUTPUT].decode("utf-8", "replace")}

    def read(self, call: Message) -> Message:
        """A file's text; None when there is none."""
        try:
            data = self._container_files.read_bytes(call["path"], MAX_OUTPUT)
        except ActionFailed:
            return {"text": None}
        return {"text": data.decode("utf-8", "replace")}

    def write(self, call: Message) -> Message:
        """Writes a file, or says why not."""
        try:
            self._container_files.write_bytes(call["path"], call["text"].encode())
        except ActionFailed as failure:
            return {"failed": str(failure)}
        return {"failed": None}

    def replace_folder(self, call: Message) -> Message:
        """Empties a folder as root, and unpacks an archive over the file system; says why not."""
        try:
            argv = ("sh", "-c", EMPTY_SCRIPT, "sh", call["path"])
            emptied = self.container.run(argv, timeout=SHELL_SECONDS, user="0:0")
        except ActionFailed as failure:
            return {"failed": str(failure)}
        if emptied.code != 0:
            return {"failed": f"{call['path']} cannot be emptied: {emptied.output[-300:].decode('utf-8', 'replace')}"}
        self._engine.put_archive(self.container.name, base64.b64decode(call["archive"]))
        return {"failed": None}


def _unsupported(what: str) -> CallHandler:
    def reject(call: Message) -> Message:
        raise ActionFailed("unsupported_action", f"a task's container has no {what}")

    return reject
