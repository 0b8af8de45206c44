"""Sites of which no tasks can be made, each with the code by which it must be rejected, and one that is of use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from protocol.site_tasks import LiveSite
from task_factory.sites.crawler import Rejection
from task_factory.sites.sources import SiteSource
from vm_bridge.browser import Request, Response

HTML = {"content-type": "text/html; charset=utf-8"}
Answer = Callable[[str], Response]
"""What a path is answered."""


@dataclass(frozen=True, slots=True)
class FixtureSite:
    """Implements `Site`: one host, answered by a function of the path."""

    host: str
    answers: Answer

    async def answer(self, request: Request) -> Response:
        """The page of a path; other hosts are not found."""
        parts = urlsplit(request.url)
        if parts.hostname != self.host:
            return Response(failure="NameNotResolved")
        if parts.path == "/favicon.ico":
            return Response(status=204)
        return self.answers(parts.path)


def page(body: str, status: int = 200) -> Response:
    """A page with this body."""
    text = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title><body>{body}</html>'
    return Response(status, text.encode(), HTML)


def redirect(to: str) -> Response:
    """A redirect."""
    return Response(302, b"", {"location": to})


def source_of(name: str, answers: Answer) -> SiteSource:
    """A fixture as a live site, at a host of its own."""
    host = f"{name.replace('_', '-')}.test"
    url = f"http://{host}/"
    return SiteSource(name, LiveSite(url=url), url, FixtureSite(host, answers))


LOGIN = (
    "<form method=post action=/session><h1>Sign in</h1><label>User <input name=user></label>"
    "<label>Password <input type=password name=password></label><button>Sign in</button></form>"
)
STORY = "<h1>The harbour</h1><p>It was built in 1720, and has been dredged twice since then.</p>"


def _trap(path: str) -> Response:
    number = int(path.strip("/") or 0) if path.strip("/").isdigit() or path == "/" else 0
    return page(f'<h1>Day {number}</h1><p>Nothing happens today.</p><a href="/{number + 1}">Next day</a>')


def _robots(path: str) -> Response:
    if path == "/robots.txt":
        return Response(200, b"User-agent: *\nDisallow: /\n", {"content-type": "text/plain"})
    return page("<label>Search <input name=q></label><button>Search</button>")


BAD_SITES: Mapping[str, tuple[Rejection, Answer]] = {
    "refused": ("dead_refused", lambda path: Response(failure="ConnectionRefused")),
    "server_error": ("dead_error", lambda path: page("<h1>Internal error</h1><button>Retry</button>", 500)),
    "not_found": ("dead_error", lambda path: page("<h1>Not found</h1><input aria-label=Search>", 404)),
    "empty": ("dead_empty", lambda path: page("")),
    "redirect_loop": ("dead_redirects", lambda path: redirect("/b" if path == "/a" else "/a")),
    "script_crash": ("dead_script", lambda path: page("<div id=app></div><script>missing.mount('#app')</script>")),
    "login_form": ("login_gated", lambda path: page(LOGIN)),
    "login_redirect": ("login_gated", lambda path: page(LOGIN) if path == "/login" else redirect("/login")),
    "login_behind_text": (
        "login_gated",
        lambda path: page(LOGIN) if path == "/inside" else page(f'{STORY}<a href="/inside">Go in</a>'),
    ),
    "static_text": ("static", lambda path: page(STORY)),
    "static_links": (
        "static",
        lambda path: page(f'{STORY}<a href="/">Start</a> <a href="/more">More</a>' + ("<p>More</p>" * (path != "/"))),
    ),
    "captcha": ("captcha", lambda path: page("<h1>One moment</h1><div class=g-recaptcha></div><button>Go</button>")),
    "captcha_words": ("captcha", lambda path: page("<p>请完成人机验证</p><button>我不是机器人</button>")),
    "off_site_links": ("off_site", lambda path: page(f'{STORY}<a href="http://elsewhere.test/">Elsewhere</a>')),
    "off_site_redirect": ("off_site", lambda path: redirect("http://elsewhere.test/")),
    "endless_pages": ("repeated", _trap),
    "destructive_only": (
        "destructive_only",
        lambda path: page("<h1>Account</h1><button>Delete account</button> <button>Pay now</button>"),
    ),
    "destructive_zh": (
        "destructive_only",
        lambda path: page("<h1>设置</h1><button>注销</button><button>清空</button>"),
    ),
    "robots": ("robots", _robots),
}
SLOW_BAD_SITES: Mapping[str, tuple[Rejection, Answer]] = {
    "endless_script": ("dead_hung", lambda path: page("<button>Go</button><script>for (;;) ;</script>")),
}
"""Found out only after the browser's own bound of ten seconds."""


def good_site(path: str) -> Response:
    """A site of use, so that not everything is rejected: a form that shows what was chosen. It has a broken link, a
    static page, a destructive button, one that writes, a link to a disguised dialog, and a script error that does no
    harm."""
    if path == "/about":
        return page(STORY)
    if path == "/ask":
        return page("<dialog open aria-label='Delete all your trips?'><button>Continue</button></dialog>")
    if path != "/":
        return page("<h1>Not found</h1>", 404)
    return page(
        "<h1>Trips</h1><label>Town <input id=town></label><button id=go>Show trips</button><p id=shown></p>"
        '<a href="/about">About</a> <a href="/gone">Old page</a> <a href="/ask">Ask</a><button>Delete all</button>'
        "<button id=keep>Keep</button><script>"
        "go.onclick = () => { shown.textContent = 'Trips from ' + town.value };"
        "keep.onclick = () => fetch('/keep', {method: 'POST'}).finally(() => { shown.textContent = 'Kept' });"
        "missing.call()</script>"
    )
