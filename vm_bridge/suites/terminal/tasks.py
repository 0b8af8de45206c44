"""The bundled terminal tasks: what lies on the disk, what is asked, and how it is judged."""

import json

from vm_bridge.suites import SandboxEnvironment
from vm_bridge.suites.checks import Check, answer_is, file_absent, file_holds
from vm_bridge.suites.table_suite import TableTask

HOME = "/home/user"

ACCESS = "".join(f"10.0.0.{min(n % 9, 5) + 2} - GET /page{n % 5} {200 if n % 9 else 404}\n" for n in range(200))
PEOPLE = "name,age\nYusuf,47\nAda,36\nMei,52\nTomás,40\nBao,61\nLin,29\n"
SETTINGS = "[server]\nhost = 127.0.0.1\nport = 8080\n\n[client]\nport = 8081\n"
RAINFALL = "day,mm\n" + "".join(f"{day},{(day * 53 % 97) / 10}\n" for day in range(1, 91))
NOTES = {
    "Menu": "Thursday: soup of leeks and potatoes.",
    "Teeth": "The dentist expects us on 14 May at nine.",
    "Garden": "Cut the hedge before the birds come.",
}
VAULT = """\
SUMS = ((17, 25), (140, 260), (999, 1))

for one, other in SUMS:
    while input(f"What is {one} + {other}? ").strip() != str(one + other):
        print("No.")
word = bytes((104, 101, 114, 111, 110)).decode()
print(f"The vault opens. The word is {word}.")
with open("opened.txt", "w") as file:
    file.write(word)
"""


def note_says(title: str, *words: str) -> Check:
    """The note of this title holds each of these words, whatever their case."""

    async def fault(environment: SandboxEnvironment, answer: str) -> str:
        notes = json.loads(await environment.read("notes.json") or "{}")
        text = str(notes.get(title, "")).casefold()
        missing = [word for word in words if word not in text]
        return f"the note {title} does not hold {', '.join(missing)}" if missing else ""

    return Check(fault, {"kind": "note_says", "path": f"{HOME}/notes.json", "title": title, "words": list(words)})


TASKS = (
    TableTask(
        name="say_hello",
        instruction="Make a file hello.txt in the home folder that holds the line hello world.",
        checks=(file_holds(f"{HOME}/hello.txt", "hello world"),),
        practice=True,
        max_steps=100,
    ),
    TableTask(
        name="busiest_address",
        instruction="Find the address that occurs most often in access.log in the home folder "
        "and write just that address into top.txt there.",
        files={"access.log": ACCESS},
        checks=(file_holds(f"{HOME}/top.txt", "10.0.0.7"),),
    ),
    TableTask(
        name="over_forty",
        instruction="Write the names of the people over 40 in people.csv, sorted alphabetically and one a line, "
        "into over40.txt in the home folder.",
        files={"people.csv": PEOPLE},
        checks=(file_holds(f"{HOME}/over40.txt", "Bao\nMei\nYusuf"),),
    ),
    TableTask(
        name="change_port",
        instruction="Change the port of the server in settings.ini in the home folder from 8080 to 9090 "
        "and leave everything else as it is.",
        files={"settings.ini": SETTINGS},
        checks=(file_holds(f"{HOME}/settings.ini", SETTINGS.replace("8080", "9090")),),
    ),
    TableTask(
        name="clear_cache",
        instruction="Remove every file that ends in .tmp below the folder project, and nothing else.",
        files={
            "project/a.tmp": "x",
            "project/deep/b.tmp": "x",
            "project/deep/keep.txt": "kept\n",
            "project/tmp": "kept too\n",
        },
        checks=(
            file_absent(f"{HOME}/project/a.tmp"),
            file_absent(f"{HOME}/project/deep/b.tmp"),
            file_holds(f"{HOME}/project/deep/keep.txt", "kept"),
            file_holds(f"{HOME}/project/tmp", "kept too"),
        ),
    ),
    TableTask(
        name="mean_rainfall",
        instruction="Work out with Python the mean of the column mm in rainfall.csv in the home folder, "
        "rounded to two decimals, and give it as the answer.",
        files={"rainfall.csv": RAINFALL},
        checks=(answer_is("4.79"),),
    ),
    TableTask(
        name="open_vault",
        instruction="Run python3 vault.py in the terminal, answer its questions, "
        "and give the word it tells at the end as the answer.",
        files={"vault.py": VAULT},
        checks=(answer_is("heron"), file_holds(f"{HOME}/opened.txt", "heron")),
    ),
    TableTask(
        name="shopping_note",
        instruction="Look up in the note Menu what is cooked on Thursday, "
        "and keep a note Shopping that names the two vegetables it needs.",
        files={"notes.json": json.dumps(NOTES)},
        checks=(note_says("Shopping", "leeks", "potatoes"), note_says("Menu", "thursday")),
    ),
    TableTask(
        name="dentist_note",
        instruction="One of the notes is about the dentist. Give its title as the answer.",
        files={"notes.json": json.dumps(NOTES)},
        checks=(answer_is("Teeth"),),
    ),
)
"""Every bundled terminal task; the names are stable, records refer to them."""
