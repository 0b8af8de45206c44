"""Machine actions: one class each, a union on `kind`. Pointer and keyboard actions are in `protocol.actions.inputs`."""

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, field_validator

from protocol.actions.inputs import MAX_TEXT, Text
from protocol.actions.inputs import Click as Click
from protocol.actions.inputs import DoubleClick as DoubleClick
from protocol.actions.inputs import Drag as Drag
from protocol.actions.inputs import DragPath as DragPath
from protocol.actions.inputs import Gesture as Gesture
from protocol.actions.inputs import InputEvent as InputEvent
from protocol.actions.inputs import LongPress as LongPress
from protocol.actions.inputs import MiddleClick as MiddleClick
from protocol.actions.inputs import MouseClick as MouseClick
from protocol.actions.inputs import MouseDown as MouseDown
from protocol.actions.inputs import MouseUp as MouseUp
from protocol.actions.inputs import MoveTo as MoveTo
from protocol.actions.inputs import Point as Point
from protocol.actions.inputs import Press as Press
from protocol.actions.inputs import PressKeys as PressKeys
from protocol.actions.inputs import Release as Release
from protocol.actions.inputs import RightClick as RightClick
from protocol.actions.inputs import Scroll as Scroll
from protocol.actions.inputs import ScrollBy as ScrollBy
from protocol.actions.inputs import Swipe as Swipe
from protocol.actions.inputs import TimedInput as TimedInput
from protocol.actions.inputs import TripleClick as TripleClick
from protocol.actions.inputs import TypeText as TypeText
from protocol.actions.inputs import Zoom as Zoom
from protocol.actions.inputs import action_points as action_points
from protocol.actions.inputs import find_off_screen_point as find_off_screen_point
from protocol.base import FrozenModel, JsonObject, limit_json_length
from protocol.blobs import BlobRef

MAX_ARGUMENTS = 200_000
"""Longest arguments of a tool (characters of JSON)."""

FilePath = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
"""A path inside the sandbox; a relative one begins at the home folder."""
SessionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")]
"""What an interactive terminal session is called."""
PageId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""One of a browser's open pages, as the observation names it."""
FileName = Annotated[str, StringConstraints(pattern=r"^[^\s/\\|]([^/\\|\x00-\x1f]{0,198}[^\s/\\|])?$")]
"""A file without its folder, as a browser offers it to a page."""
MAX_FILE = 32 * 2**20
"""Largest file that is brought in or out (bytes)."""


class Wait(FrozenModel):
    """Let time pass; seconds."""

    kind: Literal["wait"] = "wait"
    seconds: float = Field(default=5.0, gt=0, le=60)


class Navigate(FrozenModel):
    """Open an address in the browser."""

    kind: Literal["navigate"] = "navigate"
    url: Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class NavigateBack(FrozenModel):
    """Go back one page."""

    kind: Literal["navigate_back"] = "navigate_back"


class SwitchPage(FrozenModel):
    """Bring one of the browser's open pages to the front."""

    kind: Literal["switch_page"] = "switch_page"
    page: PageId


class ClosePage(FrozenModel):
    """Close one of the browser's open pages; the one in front when none is named."""

    kind: Literal["close_page"] = "close_page"
    page: PageId | None = None


class ChooseFiles(FrozenModel):
    """Answer the page that asks for files with some of those the browser has for it; with none, the page gets none."""

    kind: Literal["choose_files"] = "choose_files"
    files: Annotated[tuple[FileName, ...], Field(max_length=20)] = ()


class OpenApp(FrozenModel):
    """Start an application by its name."""

    kind: Literal["open_app"] = "open_app"
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class PressHome(FrozenModel):
    """The phone's home button."""

    kind: Literal["press_home"] = "press_home"


class PressBack(FrozenModel):
    """The phone's back button."""

    kind: Literal["press_back"] = "press_back"


class SetClipboard(FrozenModel):
    """Put text on the machine's clipboard."""

    kind: Literal["set_clipboard"] = "set_clipboard"
    text: Text


class GetClipboard(FrozenModel):
    """Read the machine's clipboard; the text comes back in the observation."""

    kind: Literal["get_clipboard"] = "get_clipboard"


class RunCommand(FrozenModel):
    """Run one terminal command line inside the sandbox; output comes back in the observation."""

    kind: Literal["run_command"] = "run_command"
    command: Text
    timeout: float = Field(default=30.0, gt=0, le=600)


class TypeTerminal(FrozenModel):
    """Send text to an interactive terminal session, started on first use; its screen comes back in the observation.

    A newline submits, "\\x03" is Ctrl-C; empty text only looks.
    """

    kind: Literal["type_terminal"] = "type_terminal"
    session: SessionName = "main"
    text: Text


class ListFiles(FrozenModel):
    """List a folder of the sandbox: name, kind, size and time of each entry."""

    kind: Literal["list_files"] = "list_files"
    path: FilePath = "."


class ReadFile(FrozenModel):
    """Read a text file of the sandbox."""

    kind: Literal["read_file"] = "read_file"
    path: FilePath


class WriteFile(FrozenModel):
    """Create or replace a text file of the sandbox."""

    kind: Literal["write_file"] = "write_file"
    path: FilePath
    text: Annotated[str, StringConstraints(max_length=1_000_000)]


class EditFile(FrozenModel):
    """Replace the one occurrence of `old` in a text file by `new`."""

    kind: Literal["edit_file"] = "edit_file"
    path: FilePath
    old: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
    new: Text


class UploadFile(FrozenModel):
    """Put a file into the sandbox; its bytes were staged with the machine before."""

    kind: Literal["upload_file"] = "upload_file"
    path: FilePath
    blob: BlobRef

    @field_validator("blob")
    @classmethod
    def _bounded(cls, blob: BlobRef) -> BlobRef:
        if blob.size > MAX_FILE:
            raise ValueError(f"the file has more than {MAX_FILE} bytes")
        return blob


class DownloadFile(FrozenModel):
    """Bring a file out of the sandbox; it comes back as the observation's attachment."""

    kind: Literal["download_file"] = "download_file"
    path: FilePath


class RunCode(FrozenModel):
    """Run code in the sandbox's Jupyter kernel, which keeps its state."""

    kind: Literal["run_code"] = "run_code"
    code: Text
    timeout: float = Field(default=60.0, gt=0, le=600)


class CallTool(FrozenModel):
    """Call a tool (`protocol.actions.tools`) by its name: `server.tool` where an MCP server offers it."""

    kind: Literal["call_tool"] = "call_tool"
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    arguments: Annotated[JsonObject, AfterValidator(limit_json_length(MAX_ARGUMENTS))] = {}


class Screenshot(FrozenModel):
    """Ask for the screen as it is now; nothing is done to the machine."""

    kind: Literal["screenshot"] = "screenshot"


class Finish(FrozenModel):
    """Say that the task is done, with the answer it asked for, if any."""

    kind: Literal["finish"] = "finish"
    answer: Text = ""


class CallUser(FrozenModel):
    """Ask the person for help or for something only they know."""

    kind: Literal["call_user"] = "call_user"
    message: Text = ""


class Infeasible(FrozenModel):
    """Say that the task cannot be done, and why: an end of its own, neither a failure nor a call for the user."""

    kind: Literal["infeasible"] = "infeasible"
    reason: Text = ""


class NoAction(FrozenModel):
    """What a policy said that nobody could do, word for word: nothing was done. The step's error says what was wrong;
    nobody may ask for it, and no dialect writes it as a call."""

    kind: Literal["no_action"] = "no_action"
    said: Text = ""


Action = Annotated[
    Click
    | DoubleClick
    | TripleClick
    | RightClick
    | MiddleClick
    | MouseClick
    | MoveTo
    | MouseDown
    | MouseUp
    | Drag
    | DragPath
    | Scroll
    | ScrollBy
    | TypeText
    | PressKeys
    | Press
    | Release
    | Wait
    | Navigate
    | NavigateBack
    | SwitchPage
    | ClosePage
    | ChooseFiles
    | LongPress
    | Swipe
    | OpenApp
    | PressHome
    | PressBack
    | SetClipboard
    | GetClipboard
    | RunCommand
    | TypeTerminal
    | ListFiles
    | ReadFile
    | WriteFile
    | EditFile
    | UploadFile
    | DownloadFile
    | RunCode
    | CallTool
    | Screenshot
    | Zoom
    | Finish
    | CallUser
    | Infeasible
    | NoAction
    | Gesture,
    Field(discriminator="kind"),
]


ACTION_ADAPTER: TypeAdapter[Action] = TypeAdapter(Action)
"""Parses and dumps any action."""

ACTION_CLASSES: dict[str, type[FrozenModel]] = {
    cls.model_fields["kind"].default: cls for cls in get_args(get_args(Action)[0])
}
"""Every action class by its kind."""

CONTROL_KINDS = frozenset({"finish", "call_user", "infeasible"})
"""Actions that speak to the runner and never reach a machine."""

OBSERVATION_KINDS = ("screenshot", "zoom")
"""Actions that ask to see, on every machine with a screen; they are answered with a look and never reach it."""

FINAL_ACTIONS = (Finish, Infeasible)
"""Actions that end the episode."""

INFEASIBLE_ANSWER = "FAIL"
"""The answer a verifier is told where an attempt ends as infeasible: the word OSWorld's verifiers look for."""
