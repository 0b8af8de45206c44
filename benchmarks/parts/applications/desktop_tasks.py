"""Own tasks for Thunderbird, Chromium, Geany, the terminal and the file manager."""

from typing import Any

from benchmarks.parts.applications.own_tasks import HOME, Act, OwnTask, keys, printed, rule, typed, wait

MAIL = f"'{HOME}/.thunderbird/user.default/Mail/Local Folders"
PAGE, PROGRAM, NOTES = "Documents/hours.html", "Documents/area.py", "notes.txt"
HTML = b"<!doctype html><meta charset=utf-8><title>Opening hours</title><h1>Opening hours</h1><p>Nine to five.</p>\n"
CODE = b"def area(width, height):\n    return width + height\n\n\nprint(area(3, 4))\n"
SITE = "http://localhost:8000"
SERVER = ["python", "-m", "http.server", "8000", "--directory", f"{HOME}/Documents"]
SAVE = keys("ctrl", "s")


def mail(identifier: str, instruction: str, box: str, *acts: Act) -> OwnTask:
    """A task with a message that is being written."""
    launch = ("thunderbird", "-compose", "to='harbour@example.test',subject='Two tickets'")
    wanted = ["Subject: Two tickets", "Please keep two tickets for Sunday."]
    return OwnTask(
        identifier,
        "thunderbird",
        instruction,
        printed(f"cat {MAIL}/{box}'", include=wanted),
        (typed("Please keep two tickets for Sunday."), *acts, wait(3)),
        {},
        launch,
        "Two tickets",
    )


def chrome(identifier: str, instruction: str, evaluator: dict[str, Any], *acts: Act) -> OwnTask:
    """A task with a page of the home folder open."""
    launch = ("google-chrome", f"file://{HOME}/{PAGE}")
    return OwnTask(identifier, "chrome", instruction, evaluator, acts, {PAGE: HTML}, launch, "Opening hours")


def geany(identifier: str, instruction: str, command: str, rules: dict[str, Any], *acts: Act) -> OwnTask:
    """A task with a program open."""
    launch = ("geany", f"{HOME}/{PROGRAM}")
    evaluator = printed(command, **rules)
    return OwnTask(identifier, "geany", instruction, evaluator, (*acts, SAVE), {PROGRAM: CODE}, launch, "area.py")


def terminal(identifier: str, instruction: str, evaluator: dict[str, Any], line: str) -> OwnTask:
    """A task with a terminal open."""
    launch = ("xterm", "-T", "Terminal")
    files = {NOTES: b"kettle\nlamp\nkettle\nclock\n"}
    return OwnTask(identifier, "os", instruction, evaluator, (typed(f"{line}\n"), wait(1)), files, launch, "Terminal")


DESKTOP_TASKS = (
    mail(
        "mail_draft",
        'Write "Please keep two tickets for Sunday." into the open message and save it as a draft.',
        "Drafts",
        SAVE,
    ),
    mail(
        "mail_later",
        'Write "Please keep two tickets for Sunday." into the open message and have it sent later.',
        "Unsent Messages",
        keys("ctrl", "shift", "enter"),
    ),
    chrome(
        "chrome_bookmark",
        "Add the open page to the bookmarks bar.",
        {
            "func": "is_expected_bookmarks",
            "result": {"type": "bookmarks"},
            "expected": rule(type="bookmark_bar_websites_urls", urls=[f"file://{HOME}/{PAGE}"]),
        },
        keys("ctrl", "d"),
        wait(1),
        keys("tab"),
        keys("enter"),
        wait(1),
        keys("down"),
        keys("enter"),
        wait(1),
        keys("esc"),
        wait(4),
    ),
    chrome(
        "chrome_save_page",
        "Save the open page as hours.html in the folder Downloads.",
        printed(f"cat {HOME}/Downloads/hours.html", include=["Nine to five."]),
        SAVE,
        wait(2),
        keys("ctrl", "a"),
        typed(f"{HOME}/Downloads/hours.html"),
        keys("alt", "s"),
        wait(3),
    ),
    OwnTask(
        "chrome_tab",
        "chrome",
        "Open http://localhost:8000/hours.html in a tab of its own and leave the other tab open.",
        {
            "func": "is_expected_tabs",
            "result": {"type": "open_tabs_info"},
            "expected": rule(type="url", urls=[f"{SITE}/notice.html", f"{SITE}/hours.html"]),
        },
        (keys("ctrl", "t"), wait(1), keys("ctrl", "l"), typed(f"{SITE}/hours.html\n"), wait(2)),
        {PAGE: HTML, "Documents/notice.html": HTML.replace(b"Opening hours", b"Notice")},
        ("google-chrome", "--remote-debugging-port=1337"),
        "New Tab",
        (
            {"type": "launch", "parameters": {"command": ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"]}},
            {"type": "launch", "parameters": {"command": SERVER}},
            {"type": "chrome_open_tabs", "parameters": {"urls_to_open": [f"{SITE}/notice.html"]}},
        ),
    ),
    geany(
        "code_fix",
        "The open program adds where it should multiply. Correct it and save the file.",
        f"python {HOME}/{PROGRAM}",
        {"expected": "12\n"},
        keys("ctrl", "l"),
        typed("2\n"),
        keys("end"),
        keys("ctrl", "shift", "left"),
        keys("delete"),
        keys("backspace"),
        keys("backspace"),
        typed("* height"),
    ),
    geany(
        "code_last_line",
        "Remove the line that prints from the open program and save the file.",
        f"cat {HOME}/{PROGRAM}",
        {"include": ["def area(width, height):"], "exclude": ["print"]},
        keys("ctrl", "l"),
        typed("5\n"),
        keys("ctrl", "k"),
    ),
    geany(
        "code_comment",
        "Turn the last line of the open program into a comment and save the file.",
        f"tail -n 1 {HOME}/{PROGRAM} | cut -c 1",
        {"expected": "#\n"},
        keys("ctrl", "l"),
        typed("5\n"),
        keys("ctrl", "e"),
    ),
    terminal(
        "terminal_count",
        "Count the lines of notes.txt that say kettle and write the number into kettles.txt on the desktop.",
        printed(f"cat {HOME}/Desktop/kettles.txt", expected="2\n"),
        "grep -c kettle notes.txt > Desktop/kettles.txt",
    ),
    terminal(
        "terminal_sort",
        "Sort the lines of notes.txt alphabetically, each only once, in the file itself.",
        printed(f"cat {HOME}/{NOTES}", expected="clock\nkettle\nlamp\n"),
        "sort -u -o notes.txt notes.txt",
    ),
    OwnTask(
        "files_folder",
        "os",
        "Make a folder named Boats in the open folder Documents.",
        printed(f"ls {HOME}/Documents", include=["Boats"]),
        (keys("ctrl", "shift", "n"), wait(1), keys("ctrl", "a"), typed("Boats\n"), wait(1)),
        {},
        ("pcmanfm", "--no-desktop", f"{HOME}/Documents"),
        "Documents",
    ),
)
