"""A real browser with controlled time: one Chromium process, its sessions, and their pages."""

from vm_bridge.browser.clocks import Clock
from vm_bridge.browser.engine import Engine
from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, BubblewrapUnavailable, PageHung, ScriptFailed
from vm_bridge.browser.events import BrowserEvent
from vm_bridge.browser.files import FilePayload
from vm_bridge.browser.session import Session, SettleResult
from vm_bridge.browser.site import Request, Response, Site, StaticSite

__all__ = [
    "BrowserEnded",
    "BrowserEvent",
    "BrowserFailed",
    "BubblewrapUnavailable",
    "Clock",
    "Engine",
    "FilePayload",
    "PageHung",
    "Request",
    "Response",
    "ScriptFailed",
    "Session",
    "SettleResult",
    "Site",
    "StaticSite",
]
