"""One example of every shared type, for the tests of this folder."""

from datetime import UTC, datetime, timedelta
from typing import Any

from protocol.actions.types import (
    Action,
    CallTool,
    CallUser,
    ChooseFiles,
    Click,
    ClosePage,
    DoubleClick,
    DownloadFile,
    Drag,
    DragPath,
    EditFile,
    Finish,
    Gesture,
    GetClipboard,
    Infeasible,
    ListFiles,
    LongPress,
    MiddleClick,
    MouseClick,
    MouseDown,
    MouseUp,
    MoveTo,
    Navigate,
    NavigateBack,
    NoAction,
    OpenApp,
    Point,
    Press,
    PressBack,
    PressHome,
    PressKeys,
    ReadFile,
    Release,
    RightClick,
    RunCode,
    RunCommand,
    Screenshot,
    Scroll,
    ScrollBy,
    SetClipboard,
    Swipe,
    SwitchPage,
    TimedInput,
    TripleClick,
    TypeTerminal,
    TypeText,
    UploadFile,
    Wait,
    WriteFile,
    Zoom,
)
from protocol.blobs import BlobRef
from protocol.messages.events import EpisodeState
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import ParseError, PolicyRef, Proposal, WeightSpan
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POLICY = PolicyRef(name="nano", revision="12", dialect="ui_tars_1_5")
TASK = Task(id="task-1", instruction="Rename report.txt to final.txt.", suite="desktop", name="rename_file", seed=7)

ACTIONS: tuple[Action, ...] = (
    Click(x=512, y=388),
    DoubleClick(x=0, y=0),
    TripleClick(x=1, y=2),
    RightClick(x=1279, y=719),
    MiddleClick(x=3, y=4),
    MoveTo(x=5, y=6),
    MouseDown(point=Point(x=7, y=8), button="right"),
    MouseUp(),
    Drag(start=Point(x=10, y=20), end=Point(x=300, y=400)),
    Scroll(point=Point(x=640, y=360), direction="down", amount=3),
    MouseClick(point=Point(x=12, y=34), keys=("ctrl", "shift")),
    MouseClick(button="back"),
    DragPath(points=(Point(x=1, y=2), Point(x=30, y=40), Point(x=500, y=6)), keys=("alt",)),
    DragPath(points=(Point(x=7, y=8),), button="right"),
    ScrollBy(point=Point(x=640, y=360), dx=-20, dy=375),
    ScrollBy(dy=-3, unit="notches", keys=("ctrl",)),
    TypeText(text='It\'s "final" — 最终\n'),
    PressKeys(keys=("ctrl", "shift", "left")),
    Press(key="shift"),
    Release(key="shift"),
    Wait(seconds=1.5),
    Navigate(url="https://example.org/?q=a%20b"),
    NavigateBack(),
    SwitchPage(page="page-2"),
    ClosePage(),
    ChooseFiles(),
    ChooseFiles(files=("a note.txt", "b.pdf")),
    LongPress(x=9, y=10, seconds=2),
    Swipe(start=Point(x=100, y=600), end=Point(x=100, y=100)),
    OpenApp(name="Clock"),
    PressHome(),
    PressBack(),
    SetClipboard(text="copied"),
    GetClipboard(),
    RunCommand(command="ls -la"),
    TypeTerminal(session="repl", text="1 + 1\n\x04"),
    ListFiles(path="/home/user"),
    ReadFile(path="/home/user/a.txt"),
    WriteFile(path="/home/user/a.txt", text="hello\n"),
    EditFile(path="/home/user/a.txt", old="hello", new="bye"),
    UploadFile(path="a.png", blob=BlobRef.of(b"bytes", "image/png")),
    DownloadFile(path="a.png"),
    RunCode(code="print(1)"),
    CallTool(name="search", arguments={"query": "cats", "limit": 3}),
    Screenshot(),
    Zoom(start=Point(x=100, y=50), end=Point(x=420, y=230)),
    Finish(answer="42"),
    CallUser(message="Which account?"),
    Infeasible(reason="There is no such account."),
    NoAction(said="I would rather not."),
    Gesture(
        inputs=(
            TimedInput(at_ms=0, input=MouseDown(point=Point(x=1, y=1))),
            TimedInput(at_ms=40, input=MoveTo(x=50, y=60)),
            TimedInput(at_ms=80, input=MouseUp()),
        )
    ),
)
"""One action of every kind."""


def at(seconds: float) -> datetime:
    """A moment so many seconds after the start of the example."""
    return START + timedelta(seconds=seconds)


def observation(name: str = "first", *, text: str | None = None, seconds: float = 0) -> Observation:
    """A look at a 1280x720 screen whose picture is told from others by its name."""
    return Observation(
        screenshot=BlobRef.of(name.encode(), "image/png"),
        width=1280,
        height=720,
        captured_at=at(seconds),
        settled=True,
        rest="rested",
        settle_ms=120.5,
        text=text,
    )


def spans(**counts: int | None) -> tuple[WeightSpan, ...]:
    """How many tokens each version drew, in order."""
    return tuple(WeightSpan(version=version, tokens=count) for version, count in counts.items())


def proposal(rank: int, action: Action | None, **fields: Any) -> Proposal:
    """A candidate; without an action one that could not be read."""
    return Proposal(
        id=f"p{rank}",
        rank=rank,
        thought=f"Thought {rank}",
        action=action,
        action_text=f"candidate {rank}",
        raw_text=f"Thought: Thought {rank}\nAction: candidate {rank}",
        error=None if action else ParseError(code="no_action", message="The reply holds no action."),
        policy=POLICY,
        latency_ms=250,
        created_at=at(rank),
        **fields,
    )


def step(index: int, action: Action, **fields: Any) -> Step:
    """An executed step between the pictures `screen-index` and `screen-index+1`."""
    values: dict[str, Any] = {
        "index": index,
        "command_id": f"command-{index}",
        "actor": "human",
        "decision": "override",
        "thought": f"Thought of step {index}",
        "action": action,
        "before": observation(f"screen-{index}", seconds=index),
        "after": observation(f"screen-{index + 1}", seconds=index + 1),
        "policy": POLICY,
        "started_at": at(index),
        "ended_at": at(index + 1),
    }
    return Step(**{**values, **fields})


def trajectory(*actions: Action, **fields: Any) -> Trajectory:
    """A finished trajectory of these actions, each an override."""
    values: dict[str, Any] = {
        "id": "trajectory-1",
        "task": TASK,
        "origin": "annotation",
        "annotator": "a1",
        "steps": tuple(step(index, action) for index, action in enumerate(actions)),
        "proposals": tuple(() for _ in actions),
        "outcome": "success",
        "terminated": True,
        "truncated": False,
        "created_at": at(0),
        "finished_at": at(len(actions)),
    }
    return Trajectory(**{**values, **fields})


def episode(**fields: Any) -> EpisodeState:
    """A running episode before its first step."""
    values: dict[str, Any] = {
        "id": "episode-1",
        "version": 4,
        "status": "running",
        "task": TASK,
        "pool": "Desktop",
        "capabilities": ("click", "type_text", "press_keys"),
        "observation": observation("screen-0"),
        "created_at": at(0),
    }
    return EpisodeState(**{**values, **fields})
