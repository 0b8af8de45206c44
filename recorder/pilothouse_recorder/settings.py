"""The recorder's folder and the person's settings."""

import json
import os
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .errors import RecorderError
from .exclusions import DEFAULT_APPS, DEFAULT_TITLES, ExclusionRules
from .sessions import write_whole

HOME_VARIABLE = "PILOTHOUSE_RECORDER_HOME"
SETTINGS, SESSIONS = "settings.json", "sessions"
URL, TOKEN, TOKEN_FILE = "PILOTHOUSE_URL", "PILOTHOUSE_TOKEN", "PILOTHOUSE_TOKEN_FILE"


CONSENT_VERSION = "4"
"""Version of the text below. A new text needs a new version, and everybody's consent again."""
CONSENT_TEXT = (
    "While it records, the recorder stores on this computer what your screens show, what you type and where you "
    "point, the names of buttons and fields that you click, and with --voice what your microphone hears. Applications "
    "and titles that you exclude, password managers, private windows of browsers, passwords typed without echo into a "
    "terminal of this computer, and password fields of programs that tell of them by accessibility are not stored. "
    "Many programs and most web pages do not tell: passwords that you type there, and into ssh sessions, tmux or "
    "screen, ARE stored: use `pause` before you type them, or cut them out afterwards. Nothing leaves this computer "
    "until you run `upload`, or `transcribe` with a server. What you upload is reviewed by people and used to train "
    "models. Sound is not uploaded: only its words, and how loud it was twenty times a second. You can review, cut and "
    "delete sessions before. On the platform you can delete a recording until somebody has reviewed it, and withdraw "
    "your consent to it at any time: it is not exported or learned from any more, but what was learned from it before"
    " stays. Record only where everybody who may be heard or shown agrees."
)
CONSENT_TEXT_CHINESE = (
    "录制期间，录制器会在这台电脑上保存屏幕显示的内容、你的键盘输入和指针位置，以及你点击的按钮和输入框的名称；"
    "使用 --voice 时还保存麦克风听到的声音。"
    "被你排除的应用和标题、密码管理器、浏览器的隐私窗口、在本机终端中不回显输入的密码，"
    "以及通过无障碍接口告知的密码框中的输入不会被保存。"
    "许多程序和大多数网页并不告知：你在那里以及在 ssh 会话、tmux 或 screen 中输入的密码会被保存："
    "请在输入前使用 pause，或事后剪除。"
    "在你运行 upload，或用服务器运行 transcribe 之前，任何内容都不会离开这台电脑。"
    "你上传的内容会由人审核，并用于训练模型。声音不会上传，只上传其中的话语和每秒二十个音量值。上传之前，你可以检查、剪除和删除会话。在平台上，录制在有人审核之前可以删除；你可以随时撤回同意："
    "此后它不再被导出或用于学习，但此前已经学到的内容会保留。请只在可能被听到或看到的每个人都同意时录制。"
)
"""The same text in Chinese, for the window."""


@dataclass(frozen=True)
class Consent:
    """What a person agreed to, and when (ISO 8601, UTC)."""

    version: str
    accepted_at: str


@dataclass(frozen=True)
class Settings:
    """A random pseudonym for the person, their consent, and exclusions beyond the defaults."""

    annotator: str
    apps: tuple[str, ...]
    titles: tuple[str, ...]
    consent: Consent | None = None

    @property
    def rules(self) -> ExclusionRules:
        """All exclusion rules. The defaults always apply."""
        return ExclusionRules((*DEFAULT_APPS, *self.apps), (*DEFAULT_TITLES, *self.titles))


def find_home() -> Path:
    """The recorder's folder; created if it is missing."""
    home = Path(os.environ.get(HOME_VARIABLE) or data_folder(sys.platform) / "pilothouse-recorder")
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return home


def data_folder(system: str) -> Path:
    """The folder for a person's program data on a system (`sys.platform`), which only that person can read."""
    if system == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if system == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def load_settings(home: Path) -> Settings:
    """Read `settings.json`. Creates it with a new pseudonym if it is missing.

    Raises RecorderError with `bad_settings`: unreadable settings would exclude nothing, so nothing is recorded.
    """
    path = home / SETTINGS
    if not path.exists():
        fresh = {"annotator": f"recorder-{uuid.uuid4().hex[:12]}", "exclude_apps": [], "exclude_titles": []}
        write_whole(path, json.dumps(fresh, indent=1).encode())
    try:
        found = json.loads(path.read_bytes())
        annotator = found["annotator"]
        if not isinstance(annotator, str):
            raise TypeError("annotator: a text is expected")
        consent = None if found.get("consent") is None else Consent(**found["consent"])
        return Settings(annotator, _patterns(found, "exclude_apps"), _patterns(found, "exclude_titles"), consent)
    except (ValueError, KeyError, TypeError) as error:
        raise RecorderError("bad_settings", f"{path.name} cannot be read: {error}") from None


def set_consent(home: Path, *, accepted: bool) -> None:
    """Store that a person agrees to the current text, or withdraws. Raises RecorderError with `bad_settings`."""
    load_settings(home)
    found = json.loads((home / SETTINGS).read_bytes())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found["consent"] = {"version": CONSENT_VERSION, "accepted_at": now} if accepted else None
    write_whole(home / SETTINGS, json.dumps(found, indent=1).encode())


def require_consent(settings: Settings) -> Consent:
    """The person's consent. Raises RecorderError with `no_consent` unless it is for the current text."""
    if settings.consent is None or settings.consent.version != CONSENT_VERSION:
        raise RecorderError("no_consent", "Read `pilothouse-recorder consent`, then agree with `consent --accept`.")
    return settings.consent


def _patterns(found: dict[str, Any], key: str) -> tuple[str, ...]:
    patterns = found.get(key, [])
    if not isinstance(patterns, list) or not all(isinstance(one, str) and one for one in patterns):
        raise TypeError(f"{key}: a list of texts is expected")
    return tuple(patterns)


def find_token() -> str:
    """The access token from the environment. Raises RecorderError with `no_token`."""
    if token := os.environ.get(TOKEN, "").strip():
        return token
    if path := os.environ.get(TOKEN_FILE):
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise RecorderError("no_token", f"{TOKEN_FILE}: {error.strerror}") from None
    raise RecorderError(
        "no_token",
        f"Pair this computer (`pair`), or put an access token into {TOKEN} or its file's path into {TOKEN_FILE}.",
    )
