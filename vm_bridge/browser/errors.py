"""What can go wrong with a browser.

BrowserFailed           the browser refused a call or did not answer it in time
├── BubblewrapUnavailable             this machine can put none around a browser, and nobody said to do without
├── BrowserEnded        its process has ended
├── PageHung            a page does not come to its end in the real time it is given
└── ScriptFailed        a script threw, took too long or gave too much
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
