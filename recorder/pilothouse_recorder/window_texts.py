"""The recorder window's texts in English and Chinese, and the text for a status."""

import os
from collections.abc import Mapping
from typing import Any

from .settings import CONSENT_TEXT, CONSENT_TEXT_CHINESE

ENGLISH: Mapping[str, str] = {
    "title": "Recorder",
    "consent": "Do you agree?",
    "consent_text": CONSENT_TEXT,
    "task": "Task",
    "own_task": "A task of my own",
    "instruction": "What you are going to do",
    "track": "I know this task",
    "expert": "well",
    "novice": "not well",
    "knowledge": "What I knew before (may be empty)",
    "voice": "Record my voice",
    "check": "Check microphone",
    "checking": "Speak now …",
    "heard": "Heard: {db} dB",
    "not_heard": "Nothing heard ({db} dB)",
    "start": "Start",
    "starting": "Starting …",
    "pause": "Pause",
    "resume": "Resume",
    "mark": "Mark",
    "help": "Outside help",
    "forget": "Forget last minute",
    "success": "Stop: done",
    "failure": "Stop: not done",
    "level": "Microphone",
    "idle": "Nothing is recorded",
    "recording": "Recording screen and input",
    "recording_voice": "Recording screen, input and voice",
    "no_microphone": "Recording screen and input. The microphone is gone.",
    "paused": "Not recording: paused",
    "excluded": "Not recording: something excluded is on the screen",
    "password": "Not recording: a password is typed",
    "unwatched": "Not recording: the recorder was held up",
    "stopping": "Stopping …",
    "marked": "Marked",
    "forgotten": "The last minute is removed",
    "saved": "Saved. Look at it with: pilothouse-recorder review",
    "failed": "Failed: {error}",
    "no_instruction": "Say what you are going to do.",
    "open_window": "Open the window",
    "quit": "Remove this icon",
}
CHINESE: Mapping[str, str] = {
    "title": "录制器",
    "consent": "你同意吗？",
    "consent_text": CONSENT_TEXT_CHINESE,
    "task": "任务",
    "own_task": "我自己的任务",
    "instruction": "你要做什么",
    "track": "我对此任务",
    "expert": "熟悉",
    "novice": "不熟悉",
    "knowledge": "之前了解的内容（可留空）",
    "voice": "录制我的声音",
    "check": "检查麦克风",
    "checking": "请现在说话……",
    "heard": "已听到：{db} dB",
    "not_heard": "没有听到声音（{db} dB）",
    "start": "开始",
    "starting": "正在开始……",
    "pause": "暂停",
    "resume": "继续",
    "mark": "标记",
    "help": "外部帮助",
    "forget": "忘记最后一分钟",
    "success": "停止：已完成",
    "failure": "停止：未完成",
    "level": "麦克风",
    "idle": "没有在录制",
    "recording": "正在录制屏幕和输入",
    "recording_voice": "正在录制屏幕、输入和声音",
    "no_microphone": "正在录制屏幕和输入。麦克风已断开。",
    "paused": "未录制：已暂停",
    "excluded": "未录制：屏幕上有被排除的内容",
    "password": "未录制：正在输入密码",
    "unwatched": "未录制：录制器曾被阻塞",
    "stopping": "正在停止……",
    "marked": "已标记",
    "forgotten": "最后一分钟已删除",
    "saved": "已保存。查看：pilothouse-recorder review",
    "failed": "失败：{error}",
    "no_instruction": "请写明你要做什么。",
    "open_window": "打开窗口",
    "quit": "移除此图标",
}
LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}


def find_texts(language: str | None) -> Mapping[str, str]:
    """The texts of a language; by default, the language of the session (`LC_ALL`, `LC_MESSAGES`, `LANG`)."""
    if language is None:
        found = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "en")
        language = "zh" if found.lower().startswith("zh") else "en"
    return LANGUAGES[language]


def status_key(status: Mapping[str, Any] | None) -> str:
    """Key of the text for the current state and its reason; None means that no recording runs."""
    if status is None:
        return "idle"
    if status["reason"] is not None:
        return str(status["reason"]) if status["reason"] in ENGLISH else "excluded"
    if not status["recording"]:
        return "stopping"
    return {"recorded": "recording_voice", "no_microphone": "no_microphone"}.get(status["voice"], "recording")


def level_share(peak_db: float, silence_db: float) -> float:
    """A microphone's level as a share of its scale, from silence to the loudest."""
    return min(1.0, max(0.0, 1 - peak_db / silence_db))
