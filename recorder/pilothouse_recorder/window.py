"""A small window that stays on top: start, pause, mark, forget, stop, and the current state.

It shows no recorded content. Its own input is not recorded.
"""

import queue
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .audio.capture import SILENCE_DB
from .errors import RecorderError
from .pairing import list_briefs
from .recorder_client import RecorderClient
from .settings import CONSENT_VERSION, load_settings, set_consent
from .window_texts import find_texts, level_share, status_key

try:
    import tkinter as tk
    from tkinter import messagebox, ttk
except ImportError:  # Debian and others ship it in a separate package
    tk = ttk = messagebox = None  # type: ignore[assignment]

CLASS_NAME = "Pilothouse-recorder"
POLL_MS = 100
WIDTH = 46
"""Width of the fields (characters)."""
LEVEL_STEPS = 100
FORM = ("task", "instruction", "expert", "novice", "knowledge", "voice", "check", "start")
"""Controls that are enabled while nothing is recorded. All others are enabled during a recording."""
KEYS = {"start": "s", "pause": "p", "mark": "m", "help": "h", "forget": "f", "success": "d", "failure": "n"}
"""Access keys with Alt, the same in every language."""


def run_window(home: Path, language: str | None) -> dict[str, Any]:
    """Show the window until it is closed. Closing it ends a running recording.

    Raises RecorderError with `no_tkinter` if Python has no Tk, with `no_display`, and with `no_consent` if the person
    does not agree.
    """
    if tk is None:
        raise RecorderError(
            "no_tkinter", "The window needs Tk for Python: install the package python3-tk, or use the commands."
        )
    try:
        root = tk.Tk(className=CLASS_NAME)
    except tk.TclError as error:
        raise RecorderError("no_display", f"No display: {error}") from None
    texts = find_texts(language)
    if not _agree(home, root, texts):
        root.destroy()
        raise RecorderError("no_consent", "Nothing is recorded without your consent.")
    client = RecorderClient(home)
    RecorderWindow(root, client, texts, list_briefs(home))
    root.mainloop()
    client.close()
    return {"closed": True}


class RecorderWindow:
    """The window's widgets and their actions."""

    def __init__(
        self, root: "tk.Tk", client: RecorderClient, texts: Mapping[str, str], briefs: Mapping[str, tuple[str, str]]
    ) -> None:
        self._root, self._client, self._texts = root, client, texts
        self._briefs = {texts["own_task"]: ("", ""), **briefs}
        self._recording = self._paused = self._closing = self._ended = False
        self._parts: dict[str, Any] = {}
        root.withdraw()
        root.title(texts["title"])
        root.attributes("-topmost", True)
        root.resizable(False, False)
        root.protocol("WM_DELETE_WINDOW", self._close)
        frame = ttk.Frame(root, padding=10)
        frame.grid()
        self._line = tk.StringVar(value=texts["idle"])
        self._message = tk.StringVar()
        ttk.Label(frame, textvariable=self._line, font=("TkDefaultFont", 11, "bold"), wraplength=360).grid(
            row=0, column=0, columnspan=3, sticky="w"
        )
        self._form = ttk.Frame(frame)
        self._form.grid(row=1, column=0, columnspan=3, sticky="ew")
        self._build_form(self._form)
        self._build_commands(frame)
        ttk.Label(frame, textvariable=self._message, wraplength=360).grid(row=30, column=0, columnspan=3, sticky="w")
        self._show(None)
        self._parts["instruction"].focus_set()
        root.update_idletasks()
        root.deiconify()  # after all widgets exist, so that no typed letter is lost
        root.after(POLL_MS, self._poll)

    def _build_form(self, frame: "ttk.Frame") -> None:
        texts = self._texts
        self._task = tk.StringVar(value=texts["own_task"])
        self._track = tk.StringVar(value="expert")
        self._voice = tk.BooleanVar()
        self._label(frame, 1, "task")
        task = ttk.Combobox(frame, textvariable=self._task, values=list(self._briefs), state="readonly", width=WIDTH)
        task.bind("<<ComboboxSelected>>", lambda _: self._choose_task())
        self._place(task, "task", 2)
        self._label(frame, 3, "instruction")
        self._place(ttk.Entry(frame, width=WIDTH), "instruction", 4)
        self._label(frame, 5, "track")
        for place, name in enumerate(("expert", "novice")):
            button = ttk.Radiobutton(frame, text=texts[name], value=name, variable=self._track)
            self._place(button, name, 6, place, 1)
        self._label(frame, 7, "knowledge")
        self._place(ttk.Entry(frame, width=WIDTH), "knowledge", 8)
        self._place(ttk.Checkbutton(frame, text=texts["voice"], variable=self._voice), "voice", 9, 0, 1)
        self._place(ttk.Button(frame, text=texts["check"], command=self._check), "check", 9, 1, 2)
        self._button(frame, "start", self._start, 10, 0, 3)

    def _build_commands(self, frame: "ttk.Frame") -> None:
        send = self._client.send
        self._button(frame, "pause", lambda: send("resume" if self._paused else "pause"), 20, 0)
        self._button(frame, "mark", lambda: send("mark"), 20, 1)
        self._button(frame, "help", lambda: send("help"), 20, 2)
        self._button(frame, "forget", lambda: send("forget"), 21, 0)
        self._button(frame, "success", lambda: send("stop", outcome="success"), 21, 1)
        self._button(frame, "failure", lambda: send("stop", outcome="failure"), 21, 2)
        self._label(frame, 22, "level", 1)
        self._level = ttk.Progressbar(frame, maximum=LEVEL_STEPS)
        self._level.grid(row=22, column=1, columnspan=2, sticky="ew")

    def _label(self, frame: "ttk.Frame", row: int, name: str, span: int = 3) -> None:
        ttk.Label(frame, text=self._texts[name]).grid(row=row, column=0, columnspan=span, sticky="w", pady=(6, 0))

    def _place(self, part: Any, name: str, row: int, column: int = 0, span: int = 3) -> None:
        part.grid(row=row, column=column, columnspan=span, sticky="ew")
        self._parts[name] = part

    def _button(
        self, frame: "ttk.Frame", name: str, run: Callable[[], None], row: int, column: int, span: int = 1
    ) -> None:
        button = ttk.Button(frame, text=f"{self._texts[name]} (Alt+{KEYS[name].upper()})", command=run)
        button.bind("<Return>", lambda _: button.invoke())
        self._root.bind(f"<Alt-{KEYS[name]}>", lambda _: button.invoke())
        self._place(button, name, row, column, span)

    def _choose_task(self) -> None:
        _key, instruction = self._briefs[self._task.get()]
        entry = self._parts["instruction"]
        entry.delete(0, "end")
        entry.insert(0, instruction)

    def _start(self) -> None:
        instruction = self._parts["instruction"].get().strip()
        if not instruction:
            self._message.set(self._texts["no_instruction"])
            return
        key, _instruction = self._briefs[self._task.get()]
        options = [f"--track={self._track.get()}", f"--knowledge={self._parts['knowledge'].get()}"]
        options += [f"--task={key}"] if key else []
        options += ["--voice"] if self._voice.get() else []
        self._message.set(self._texts["starting"])
        self._parts["start"].state(["disabled"])
        self._client.start([*options, "--", instruction])

    def _check(self) -> None:
        self._message.set(self._texts["checking"])
        self._client.check()

    def _poll(self) -> None:
        while True:
            try:
                what, result = self._client.answers.get_nowait()
            except queue.Empty:
                break
            self._note(what, result)
            if self._ended:
                return
        self._root.after(POLL_MS, self._poll)

    def _note(self, what: str, result: Any) -> None:
        texts = self._texts
        if what == "status":
            self._show(result)
        elif what == "failed":
            self._message.set(texts["failed"].format(error=result))
            self._show(None)
            if self._closing:
                self._end()
        elif what == "ended":
            self._message.set(texts["saved"])
            self._show(None)
        elif what == "microphone":
            self._message.set(texts["heard" if result["heard"] else "not_heard"].format(db=round(result["peak_db"])))
        elif result in ("mark", "help", "forget"):
            self._message.set(texts["forgotten" if result == "forget" else "marked"])
        elif result == "stop" and self._closing:
            self._end()

    def _show(self, status: Mapping[str, Any] | None) -> None:
        """Show the state, and enable only the controls that have an effect now."""
        was_recording, self._recording = self._recording, status is not None
        self._paused = status is not None and status["reason"] == "paused"
        self._line.set(self._texts[status_key(status)])
        level = 0.0 if status is None else level_share(status["voice_peak_db"], SILENCE_DB)
        self._level["value"] = level * LEVEL_STEPS if status and status["voice"] == "recorded" else 0
        pause = self._texts["resume" if self._paused else "pause"]
        self._parts["pause"]["text"] = f"{pause} (Alt+{KEYS['pause'].upper()})"
        for name, part in self._parts.items():
            usable = self._recording != (name in FORM)
            part.state(["!disabled" if usable else "disabled"])
        if self._recording and not was_recording:
            self._form.grid_remove()
            self._message.set("")
            self._parts["pause"].focus_set()
        elif was_recording and not self._recording:
            self._form.grid()
            self._parts["instruction"].focus_set()

    def _close(self) -> None:
        """Stop the recording, then close the window: nothing is recorded without it."""
        if not self._recording or self._closing:
            self._end()
            return
        self._closing = True
        self._line.set(self._texts["stopping"])
        self._client.send("stop", outcome=None)

    def _end(self) -> None:
        self._ended = True
        self._root.destroy()


def _agree(home: Path, root: "tk.Tk", texts: Mapping[str, str]) -> bool:
    """Whether the person agrees to be recorded. Asks once for each version of the text."""
    given = load_settings(home).consent
    if given is not None and given.version == CONSENT_VERSION:
        return True
    agreed = bool(messagebox.askyesno(texts["consent"], texts["consent_text"], parent=root))
    if agreed:
        set_consent(home, accepted=True)
    return agreed
