"""Own tasks for LibreOffice Calc, Writer and Impress."""

from collections.abc import Sequence
from typing import Any

from benchmarks.parts.applications.documents import presentation, text_document, workbook
from benchmarks.parts.applications.own_tasks import HOME, Act, OwnTask, file_of, keys, printed, rule, typed

SALES: Sequence[Sequence[str | int]] = (
    ("Item", "Amount"),
    ("Kettle", 120),
    ("Lamp", 45),
    ("Chair", 310),
    ("Basket", 18),
    ("Clock", 77),
)
SAVE = keys("ctrl", "s")
BOOK, LETTER, SLIDES = "Documents/sales.xlsx", "Documents/letter.docx", "Documents/talk.fodp"
PARAGRAPHS = ("Ferry to Orlmouth", "The boat runs every day but Monday.", "Bring a warm coat.")


def cell(place: str, **props: Any) -> dict[str, Any]:
    """An evaluator of one cell of the workbook: its value, or how it looks."""
    rules = [{"type": "check_cell", "sheet_idx": 0, "coordinate": place, "props": props}]
    return {"func": "compare_table", "result": file_of(BOOK), "options": {"rules": rules}}


def go_to(cells: str) -> tuple[Act, ...]:
    """Select cells by the name box."""
    return keys("ctrl", "shift", "t"), typed(f"{cells}\n")


def calc(identifier: str, instruction: str, evaluator: dict[str, Any], *acts: Act) -> OwnTask:
    """A task with the workbook open."""
    launch = ("soffice", "--calc", f"{HOME}/{BOOK}")
    files = {BOOK: workbook(SALES)}
    return OwnTask(identifier, "libreoffice_calc", instruction, evaluator, (*acts, SAVE), files, launch, "sales.xlsx")


def writer(identifier: str, instruction: str, evaluator: dict[str, Any], *acts: Act) -> OwnTask:
    """A task with the letter open."""
    launch = ("soffice", "--writer", f"{HOME}/{LETTER}")
    files = {LETTER: text_document(PARAGRAPHS)}
    return OwnTask(
        identifier, "libreoffice_writer", instruction, evaluator, (*acts, SAVE), files, launch, "letter.docx"
    )


def impress(identifier: str, instruction: str, evaluator: dict[str, Any], *acts: Act) -> OwnTask:
    """A task with the presentation open."""
    launch = ("soffice", "--impress", f"{HOME}/{SLIDES}")
    files = {SLIDES: presentation(("Harbour lights", "Thank you"))}
    return OwnTask(identifier, "libreoffice_impress", instruction, evaluator, (*acts, SAVE), files, launch, "talk.fodp")


SAVED_AFTERWARDS = (
    {"type": "activate_window", "parameters": {"window_name": "sales.xlsx - LibreOffice Calc", "strict": True}},
    {"type": "execute", "parameters": {"command": ["python", "-c", "import pyautogui; pyautogui.hotkey('ctrl', 's')"]}},
    {"type": "sleep", "parameters": {"seconds": 2}},
)
"""The usual end of OSWorld's office tasks: whoever did not save is helped."""
OPENED = OwnTask(
    "calc_unsaved",
    "libreoffice_calc",
    "Write 99 into cell B6 of the open workbook.",
    {**cell("B6", value={"method": "eq", "ref": 99}), "postconfig": SAVED_AFTERWARDS},
    (*go_to("B6"), typed("99\n")),
    {BOOK: workbook(SALES)},
    steps=({"type": "open", "parameters": {"path": f"{HOME}/{BOOK}"}},),
)
LETTER_TEXT = (
    f"python -c \"import zipfile; print(zipfile.ZipFile('{HOME}/{LETTER}').read('word/document.xml').decode())\""
)
OFFICE_TASKS = (
    OPENED,
    calc(
        "calc_total",
        "Put the total of the amounts into cell B7 as a formula and save the workbook.",
        cell("B7", value={"method": "eq", "ref": 570}),
        *go_to("B7"),
        typed("=SUM(B2:B6)\n"),
    ),
    calc(
        "calc_best",
        "Write the name of the item with the largest amount into cell D1 and save the workbook.",
        cell("D1", value={"method": "eq", "ref": "Chair"}),
        *go_to("D1"),
        typed("Chair\n"),
    ),
    calc(
        "calc_bold",
        "Make the headings in A1 and B1 bold and save the workbook.",
        cell("B1", font_bold={"method": "eq", "ref": True}),
        *go_to("A1:B1"),
        keys("ctrl", "b"),
    ),
    calc(
        "calc_delete_row",
        "Delete the whole row of the lamp, so that the chair moves up, and save the workbook.",
        cell("A3", value={"method": "eq", "ref": "Chair"}),
        *go_to("A3"),
        keys("shift", "space"),
        keys("ctrl", "minus"),
    ),
    writer(
        "writer_append",
        'Add the sentence "The last boat leaves at nine." as a paragraph at the end of the letter and save it.',
        printed(LETTER_TEXT, include=["The last boat leaves at nine.", "Bring a warm coat."]),
        keys("ctrl", "end"),
        typed("\nThe last boat leaves at nine."),
    ),
    writer(
        "writer_centre",
        "Centre the first line of the letter and save it.",
        {"func": "is_first_line_centered", "result": file_of(LETTER)},
        keys("ctrl", "home"),
        keys("ctrl", "e"),
    ),
    writer(
        "writer_page_break",
        "Let the last paragraph of the letter begin on a page of its own and save it.",
        {"func": "contains_page_break", "result": file_of(LETTER), "expected": rule(page_break_count=1)},
        keys("ctrl", "end"),
        keys("home"),
        keys("ctrl", "enter"),
    ),
    impress(
        "impress_new_slide",
        "Add a slide to the presentation, so that it has three, and save it.",
        printed(f"grep -o '<draw:page ' {HOME}/{SLIDES} | wc -l", expected="3\n"),
        keys("ctrl", "m"),
    ),
    impress(
        "impress_title",
        'Change the text of the first slide to "Harbour at night" and save the presentation.',
        printed(f"cat {HOME}/{SLIDES}", include=["Harbour at night"], exclude=["Harbour lights"]),
        keys("tab"),
        keys("f2"),
        keys("ctrl", "a"),
        typed("Harbour at night"),
        keys("esc"),
    ),
)
