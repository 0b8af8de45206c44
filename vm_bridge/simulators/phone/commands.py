"""Android's own commands, as the shell of the phone finds them."""

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vm_bridge.simulators.phone import keycodes
from vm_bridge.simulators.phone.apps import App
from vm_bridge.simulators.phone.browser import BrowserError
from vm_bridge.simulators.phone.handset import Handset
from vm_bridge.simulators.phone.hierarchy import to_xml

DENSITY = 160
KEYBOARD = "org.pilothouse.keyboard/.Latin"
TEXT_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""The input method that takes any text from the shell, as the one people install for that purpose."""
LONG_PRESS = 0.6
SWIPE_MS = 300
UNKNOWN_ACTIVITY = 252
TERMINAL, HIERARCHY = "/dev/tty", "window_dump.xml"


class CommandResult(NamedTuple):
    """What a command leaves behind."""

    code: int = 0
    output: bytes = b""
    errors: bytes = b""


class _UsageError(Exception):
    """The command line makes no sense; the text says why."""


@dataclass(slots=True)
class Android:
    """The system around a handset: properties, settings and the input method."""

    handset: Handset
    properties: dict[str, str]
    settings: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = {
            ("system", "user_rotation"): "0",
            ("system", "accelerometer_rotation"): "0",
            ("secure", "default_input_method"): KEYBOARD,
        } | self.settings

    async def run(self, argv: Sequence[str]) -> CommandResult:
        """Do one command."""
        try:
            return await COMMANDS[Path(argv[0]).name](self, list(argv[1:]))
        except _UsageError as wrong:
            return CommandResult(255, errors=f"Error: {wrong}\n".encode())
        except BrowserError as error:
            return CommandResult(1, errors=f"{argv[0]}: {error}\n".encode())

    def app(self, package: str) -> App:
        """Raises _Wrong."""
        app = self.handset.apps.find(package)
        if app is None:
            raise _UsageError(f"unknown package: {package}")
        return app


async def _getprop(phone: Android, words: list[str]) -> CommandResult:
    if words:
        return _text_result(phone.properties.get(words[0], ""))
    return _text_result("\n".join(f"[{name}]: [{value}]" for name, value in sorted(phone.properties.items())))


async def _wm(phone: Android, words: list[str]) -> CommandResult:
    upright = sorted((phone.handset.screen.width, phone.handset.screen.height))
    said = {"size": f"Physical size: {upright[0]}x{upright[1]}", "density": f"Physical density: {DENSITY}"}
    return _text_result(_list_contains(said, words))


async def _settings(phone: Android, words: list[str]) -> CommandResult:
    match words:
        case ["get", space, name]:
            return _text_result(phone.settings.get((space, name), "null"))
        case ["put", space, name, value]:
            if (space, name) == ("system", "user_rotation"):
                await phone.handset.turn(_parse_number(value, 3))
            phone.settings[space, name] = value
            return CommandResult()
    raise _UsageError("settings get|put NAMESPACE NAME [VALUE]")


async def _pm(phone: Android, words: list[str]) -> CommandResult:
    apps = phone.handset.apps
    match words:
        case ["list", "packages", *options]:
            own = () if "-3" in options else (apps.launcher.package, TEXT_KEYBOARD.partition("/")[0])
            packages = (*(app.package for app in apps.installed if "-s" not in options), *own)
            return _text_result("\n".join(f"package:{package}" for package in packages))
        case ["clear", package]:
            app = apps.find(package)
            if app is None:
                return CommandResult(1, b"Failed\n")
            await phone.handset.clear(app)
            return _text_result("Success")
    raise _UsageError("pm list packages [-3|-s] | clear PACKAGE")


async def _am(phone: Android, words: list[str]) -> CommandResult:
    match words:
        case ["start", *options] if "-n" in options:
            component = _option_value("-n", options)
            app = phone.handset.apps.find(component.partition("/")[0])
            if app is None:
                raise _UsageError(f"Activity class {{{component}}} does not exist.")
            await phone.handset.open(app)
            return _text_result(f"Starting: Intent {{ cmp={component} }}")
        case ["force-stop", package]:
            app = phone.handset.apps.find(package)
            if app is not None:
                await phone.handset.stop(app)
            return CommandResult()
        case ["broadcast", *options] if _option_value("-a", options) == "ADB_INPUT_B64":
            return await _broadcast_text(phone, _option_value("--es", options, 2))
    raise _UsageError("am start -n COMPONENT | force-stop PACKAGE | broadcast -a ADB_INPUT_B64 --es msg TEXT")


async def _broadcast_text(phone: Android, encoded: str) -> CommandResult:
    """As on a phone, nobody hears it while another input method is chosen."""
    if phone.settings["secure", "default_input_method"] == TEXT_KEYBOARD:
        try:
            await phone.handset.write(base64.b64decode(encoded, validate=True).decode())
        except (binascii.Error, UnicodeDecodeError) as error:
            raise _UsageError(str(error)) from error
    return _text_result(
        "Broadcasting: Intent { act=ADB_INPUT_B64 flg=0x400000 (has extras) }\nBroadcast completed: result=0"
    )


async def _ime(phone: Android, words: list[str]) -> CommandResult:
    match words:
        case ["list", *_]:
            return _text_result(f"{KEYBOARD}\n{TEXT_KEYBOARD}")
        case ["enable" | "set" as act, method] if method in (KEYBOARD, TEXT_KEYBOARD):
            if act == "set":
                phone.settings["secure", "default_input_method"] = method
            return _text_result(f"Input method {method} {'selected' if act == 'set' else 'enabled'} for user #0")
    raise _UsageError("ime list -s | enable|set METHOD")


async def _monkey(phone: Android, words: list[str]) -> CommandResult:
    app = phone.handset.apps.find(_option_value("-p", words))
    if app is None:
        return CommandResult(UNKNOWN_ACTIVITY, b"", b"** No activities found to run, monkey aborted.\n")
    await phone.handset.open(app)
    return _text_result("Events injected: 1")


async def _input(phone: Android, words: list[str]) -> CommandResult:
    match words:
        case ["tap", x, y]:
            place = _parse_point(phone, x, y)
            await phone.handset.touch(place, place, 0.0)
        case ["swipe", x, y, to_x, to_y, *rest] if len(rest) < 2:
            seconds = _parse_number(rest[0] if rest else str(SWIPE_MS), 60_000) / 1000
            await phone.handset.touch(_parse_point(phone, x, y), _parse_point(phone, to_x, to_y), seconds)
        case ["text", text]:
            if not text.isascii():
                raise _UsageError("Attempt to get length of null array")
            await phone.handset.write(text.replace("%s", " "))
        case ["keyevent", "--longpress", *names] if names:
            await _press(phone, names, LONG_PRESS)
        case ["keyevent", *names] if names:
            await _press(phone, names, 0.0)
        case ["keycombination", *names] if len(names) > 1:
            await phone.handset.press([_parse_key(name) for name in names])
        case _:
            raise _UsageError("input tap|swipe|text|keyevent|keycombination")
    return CommandResult()


async def _press(phone: Android, names: list[str], seconds: float) -> None:
    for name in names:
        code = keycodes.parse_key_code(name)
        if code == keycodes.HOME:
            await phone.handset.home()
        elif code == keycodes.BACK:
            await phone.handset.back()
        elif code not in keycodes.IGNORED_CODES:
            await phone.handset.press([_parse_key(name)], seconds=seconds)


async def _screencap(phone: Android, words: list[str]) -> CommandResult:
    screen = phone.handset.screen
    file = next((word for word in words if not word.startswith("-")), None)
    as_png = "-p" in words or (file is not None and file.endswith(".png"))
    picture = await asyncio.to_thread(screen.png if as_png else screen.raw)
    return CommandResult(output=picture) if file is None else await _write_result(file, picture)


async def _uiautomator(phone: Android, words: list[str]) -> CommandResult:
    match words:
        case ["dump", *options]:
            file = next((word for word in options if not word.startswith("-")), HIERARCHY)
            described = to_xml(await phone.handset.nodes(), phone.handset.front.package)
            if file == TERMINAL:
                return CommandResult(output=described)
            written = await _write_result(file, described)
            return written if written.code else _text_result(f"UI hierchary dumped to: {file}")
    raise _UsageError("uiautomator dump [FILE]")


async def _write_result(file: str, content: bytes) -> CommandResult:
    try:
        await asyncio.to_thread(Path(file).write_bytes, content)
    except OSError as error:
        return CommandResult(1, errors=f"Error opening file: {file} ({error.strerror})\n".encode())
    return CommandResult()


async def _dumpsys(phone: Android, words: list[str]) -> CommandResult:
    app, screen = phone.handset.front, phone.handset.screen
    said = {
        "activity": f"  mResumedActivity: ActivityRecord{{1 u0 {app.activity} t1}}",
        "window": f"  mCurrentFocus=Window{{1 u0 {app.package}/{app.package}.MainActivity}}\n"
        f"  init={screen.width}x{screen.height} {DENSITY}dpi cur={screen.width}x{screen.height}",
        "input": f"      SurfaceOrientation: {phone.settings['system', 'user_rotation']}",
    }
    return _text_result(_list_contains(said, words))


COMMANDS: dict[str, Callable[[Android, list[str]], Awaitable[CommandResult]]] = {
    "am": _am,
    "dumpsys": _dumpsys,
    "getprop": _getprop,
    "ime": _ime,
    "input": _input,
    "monkey": _monkey,
    "pm": _pm,
    "screencap": _screencap,
    "settings": _settings,
    "uiautomator": _uiautomator,
    "wm": _wm,
}
"""Every command by its name."""


def _text_result(text: str) -> CommandResult:
    return CommandResult(output=f"{text}\n".encode())


def _list_contains(said: dict[str, str], words: list[str]) -> str:
    if not words or words[0] not in said:
        raise _UsageError(f"unknown: {' '.join(words)}; known are {', '.join(said)}")
    return said[words[0]]


def _option_value(option: str, words: list[str], place: int = 1) -> str:
    """The word that follows an option."""
    try:
        return words[words.index(option) + place]
    except (ValueError, IndexError):
        raise _UsageError(f"{option} is missing") from None


def _parse_number(word: str, most: int) -> int:
    if not word.isascii() or not word.isdigit() or int(word) > most:
        raise _UsageError(f"{word!r} is no number from 0 to {most}")
    return int(word)


def _parse_point(phone: Android, x: str, y: str) -> tuple[float, float]:
    """A place on the screen; a finger beside it touches its edge."""
    try:
        return (
            min(max(float(x), 0.0), phone.handset.screen.width - 1.0),
            min(max(float(y), 0.0), phone.handset.screen.height - 1.0),
        )
    except ValueError:
        raise _UsageError(f"{x} {y} is no place") from None


def _parse_key(name: str) -> keycodes.Key:
    code = keycodes.parse_key_code(name)
    if code not in keycodes.KEYS:
        raise _UsageError(f"unknown key {name}")
    return keycodes.KEYS[code]
