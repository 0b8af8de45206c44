"""Browser errors.

BrowserFailed           the browser rejected a call or did not answer in time
├── BubblewrapUnavailable             this machine cannot sandbox a browser, and unsandboxed use was not allowed
├── BrowserEnded        its process has ended
├── PageHung            a page does not finish within its real-time limit
└── ScriptFailed        a script threw, timed out or returned too much
"""


class BrowserFailed(Exception):
    """Base of all; the message is for people."""


class BubblewrapUnavailable(BrowserFailed):
    pass


class BrowserEnded(BrowserFailed):
    pass


class PageHung(BrowserFailed):
    pass


class ScriptFailed(BrowserFailed):
    pass
