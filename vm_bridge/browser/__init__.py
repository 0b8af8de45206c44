"""A real browser whose time is in our hands: one Chromium process, sessions in it, and their pages."""

from vm_bridge.browser.engine import Engine
from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, NoWalls, PageHung, ScriptFailed
from vm_bridge.browser.files import GivenFile
from vm_bridge.browser.happenings import Happening
from vm_bridge.browser.session import Rest, Session
from vm_bridge.browser.site import Folder, Request, Response, Site
from vm_bridge.browser.words import Clock

__all__ = [
    "BrowserEnded",
    "BrowserFailed",
    "Clock",
    "Engine",
    "Folder",
    "GivenFile",
    "Happening",
    "NoWalls",
    "PageHung",
    "Request",
    "Response",
    "Rest",
    "ScriptFailed",
    "Session",
    "Site",
]
