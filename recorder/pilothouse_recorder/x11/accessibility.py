"""Elements from AT-SPI, the accessibility interface of Linux desktops: programs answer over its own D-Bus."""

from collections.abc import Iterator
from typing import Any

from ..clocks import MS, SECOND, now_ns
from ..dbus.connection import BUS, BUS_PATH, Connection, DBusError, session_address
from ..elements import Element, Insertion

ACCESSIBLE, COMPONENT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Component"
REGISTRY, REGISTRY_PATH = "org.a11y.atspi.Registry", "/org/a11y/atspi/registry"
ROOT, NOTHING = "/org/a11y/atspi/accessible/root", "/org/a11y/atspi/null"
FOCUS_EVENT = "object:state-changed:focused"
FOCUS_RULE = "type='signal',interface='org.a11y.atspi.Event.Object',member='StateChanged',arg0='focused'"
TEXT_EVENT = "object:text-changed:insert"
TEXT_RULE = "type='signal',interface='org.a11y.atspi.Event.Object',member='TextChanged'"
INSERT, BY_THE_PROGRAM = "insert", ":system"
"""Kinds of text change, and their origin: some programs report that they made the change themselves."""
PASSWORD_ROLE = 40
ACTIVE, FOCUSED = 1, 12
"""Bits of an element's state."""
ON_SCREEN = 0
"""Coordinates are relative to the screen, not the window."""
MAX_LEVELS = 30
ROLES = {
    "push button": "button",
    "toggle button": "button",
    "check box": "checkbox",
    "combo box": "combobox",
    "entry": "textbox",
    "text": "textbox",
    "password text": "password",
    "icon": "image",
    "list item": "listitem",
    "menu bar": "menubar",
    "menu item": "menuitem",
    "radio button": "radio",
    "page tab": "tab",
    "page tab list": "tablist",
    "label": "text",
    "frame": "window",
}
"""Role names of other systems for the same roles; other roles keep their names."""
VERIFY_NS = 500 * MS
"""Interval of checks whether a focused password field still has the focus."""
LIST_NS = 2 * SECOND
"""Minimum interval between two listings of the programs."""

Place = tuple[str, str]
"""A program's name on the bus, and the path of its object."""


def open_finder() -> "AccessibilityFinder":
    """The accessibility interface of this session. Raises DBusError if there is none."""
    session = Connection(session_address())
    try:
        address = session.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")[0]
    finally:
        session.close()
    return AccessibilityFinder(Connection(address))


class AccessibilityFinder:
    """Queries programs over this bus."""

    def __init__(self, bus: Connection) -> None:
        self._bus = bus
        self._programs: dict[int, str] = {}
        self._listed_ns = -LIST_NS
        self._focused: Place | None = None
        self._password: Place | None = None
        self._verified_ns = 0
        self._insertions: list[Insertion] = []
        for rule, event in ((FOCUS_RULE, FOCUS_EVENT), (TEXT_RULE, TEXT_EVENT)):
            bus.call(BUS, BUS_PATH, BUS, "AddMatch", "s", rule)
            try:
                bus.call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", "sass", event, [], "")
            except DBusError:  # before version 2.36
                bus.call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", "s", event)

    def element_at(self, x: int, y: int, pid: int, deadline_ns: int) -> Element | None:
        """The innermost element of this program at a point of the screen. Raises DBusError if the bus is gone."""
        try:
            program = self._find_program(pid, deadline_ns)
            window = self._find_window(program, x, y, deadline_ns) if program else None
            return None if window is None else self._describe(self._descend(window, x, y, deadline_ns), deadline_ns)
        except DBusError as error:
            if not error.name:
                raise
            return None  # no answer, or not in time

    def has_password_focus(self, deadline_ns: int) -> bool:
        """Whether a password field has the focus, from the events of programs. Raises DBusError if the bus is gone."""
        for signal in self._bus.process():
            place = (signal.sender, signal.path)
            if signal.member == "StateChanged" and signal.body[:1] == ("focused",):
                self._note_focus(place, bool(signal.body[1]), deadline_ns)
            elif signal.member == "TextChanged" and self._has_focus(place, deadline_ns):
                self._note_text(signal.body)
        if self._password is not None and now_ns() - self._verified_ns > VERIFY_NS:
            self._verified_ns = now_ns()
            if not self._is_focused(self._password, deadline_ns):
                self._password = None
        return self._password is not None

    def take_insertions(self) -> list[Insertion]:
        """Texts inserted into the focused element, collected by `has_password_focus`."""
        taken, self._insertions = self._insertions, []
        return taken

    def close(self) -> None:
        """End the connection."""
        self._bus.close()

    def _has_focus(self, place: Place, deadline_ns: int) -> bool:
        """Whether typed text goes there. A program is queried once, for the focus from before the recording."""
        if self._focused is None and self._is_focused(place, deadline_ns):
            self._focused = place
        return place == self._focused

    def _note_text(self, body: tuple[Any, ...]) -> None:
        kind, text = body[0], getattr(body[3], "value", body[3]) if len(body) > 3 else ""
        if str(kind).startswith(INSERT) and not str(kind).endswith(BY_THE_PROGRAM) and isinstance(text, str) and text:
            self._insertions.append(Insertion(text, now_ns()))

    def _note_focus(self, place: Place, gained: bool, deadline_ns: int) -> None:
        self._focused = place if gained else None if place == self._focused else self._focused
        if not gained:
            self._password = None if place == self._password else self._password
            return
        try:
            role = self._ask(place, ACCESSIBLE, "GetRole", deadline_ns)
        except DBusError as error:
            if not error.name:
                raise
            role = 0
        self._password, self._verified_ns = (place if role == PASSWORD_ROLE else None), now_ns()

    def _is_focused(self, place: Place, deadline_ns: int) -> bool:
        """Whether the element has the focus: False if it is gone, True if its program is slow."""
        try:
            return bool(self._states(place, deadline_ns) >> FOCUSED & 1)
        except DBusError as error:
            if not error.name:
                raise
            return error.name == "timeout"

    def _find_program(self, pid: int, deadline_ns: int) -> str:
        """The bus name of a process; empty if it has none."""
        if pid not in self._programs and now_ns() - self._listed_ns >= LIST_NS:
            self._listed_ns = now_ns()
            self._programs = {}
            for name, _ in self._children((REGISTRY, ROOT), deadline_ns):
                try:
                    owner = self._call(BUS, BUS_PATH, BUS, "GetConnectionUnixProcessID", deadline_ns, "s", name)
                except DBusError as error:
                    if not error.name or error.name == "timeout":
                        raise
                    continue  # it has ended
                self._programs[int(owner)] = name
        return self._programs.get(pid, "")

    def _find_window(self, program: str, x: int, y: int, deadline_ns: int) -> Place | None:
        """The window of a program at a point, preferably the active one."""
        found = None
        for place in self._children((program, ROOT), deadline_ns):
            left, top, width, height = self._ask(place, COMPONENT, "GetExtents", deadline_ns, "u", ON_SCREEN)
            if left <= x < left + width and top <= y < top + height:
                found = place
                if self._states(place, deadline_ns) >> ACTIVE & 1:
                    break
        return found

    def _descend(self, place: Place, x: int, y: int, deadline_ns: int) -> Place:
        """The innermost element at a point that is found in time."""
        for _ in range(MAX_LEVELS):
            try:
                below = self._ask(place, COMPONENT, "GetAccessibleAtPoint", deadline_ns, "iiu", x, y, ON_SCREEN)
            except DBusError as error:
                if not error.name or error.name == "timeout":
                    raise
                break  # no child has a position
            if below[1] == NOTHING or tuple(below) == place:
                break
            place = (below[0], below[1])
        return place

    def _describe(self, place: Place, deadline_ns: int) -> Element:
        role = str(self._ask(place, ACCESSIBLE, "GetRoleName", deadline_ns))
        left, top, width, height = self._ask(place, COMPONENT, "GetExtents", deadline_ns, "u", ON_SCREEN)
        name = str(self._bus.get(*place, ACCESSIBLE, "Name", _seconds(deadline_ns)))
        return Element(ROLES.get(role, role), name, (left, top, width, height))

    def _children(self, place: Place, deadline_ns: int) -> Iterator[Place]:
        for name, path in self._ask(place, ACCESSIBLE, "GetChildren", deadline_ns):
            if path != NOTHING:
                yield name, path

    def _states(self, place: Place, deadline_ns: int) -> int:
        low, high = self._ask(place, ACCESSIBLE, "GetState", deadline_ns)
        return int(low) | int(high) << 32

    def _ask(
        self, place: Place, interface: str, member: str, deadline_ns: int, signature: str = "", *values: Any
    ) -> Any:
        return self._call(*place, interface, member, deadline_ns, signature, *values)

    def _call(
        self, name: str, path: str, interface: str, member: str, deadline_ns: int, signature: str = "", *values: Any
    ) -> Any:
        return self._bus.call(name, path, interface, member, signature, *values, seconds=_seconds(deadline_ns))[0]


def _seconds(deadline_ns: int) -> float:
    """Time left until the deadline."""
    return max(0.001, (deadline_ns - now_ns()) / SECOND)
