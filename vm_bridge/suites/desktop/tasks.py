"""The bundled desktop tasks: what lies on the disk, what is open, what is asked, and how it is judged."""

from vm_bridge.suites.checks import answer_is, file_absent, file_holds, is_executable
from vm_bridge.suites.table_suite import TableTask, Window

HOME = "/home/user"


def editor(path: str) -> Window:
    """The text editor with a file of the home folder open."""
    return Window(("mousepad", f"{HOME}/{path}"), path.rsplit("/", 1)[-1])


TERMINAL = Window(("xterm", "-title", "Terminal"), "Terminal")
CALCULATOR = Window(("galculator",), "galculator")

REPORT = "Quarterly report\n\nSales rose in the north and fell in the south.\n"
SALES = "item,amount\n" + "".join(f"item{n},{n * 37 % 101}\n" for n in range(1, 61))
REPORT_MADE = r"Weekly report\nTotal 512\n"
LOG = "09:00 started\n09:05 ready\n"

TASKS = (
    TableTask(
        name="say_hello",
        instruction="Type the line hello world into the open file hello.txt and save it.",
        files={"Desktop/hello.txt": ""},
        windows=(editor("Desktop/hello.txt"),),
        checks=(file_holds(f"{HOME}/Desktop/hello.txt", "hello world"),),
        practice=True,
        max_steps=100,
    ),
    TableTask(
        name="rename_report",
        instruction="Rename the file report.txt on the desktop to final.txt.",
        files={"Desktop/report.txt": REPORT},
        checks=(file_holds(f"{HOME}/Desktop/final.txt", REPORT), file_absent(f"{HOME}/Desktop/report.txt")),
    ),
    TableTask(
        name="fix_spelling",
        instruction="The letter in the open editor says recieve. Correct it to receive and save the file.",
        files={"Desktop/letter.txt": "Dear Ms Okafor,\nyou will recieve the parcel on Monday.\nYours, Lin\n"},
        windows=(editor("Desktop/letter.txt"),),
        checks=(
            file_holds(
                f"{HOME}/Desktop/letter.txt", "Dear Ms Okafor,\nyou will receive the parcel on Monday.\nYours, Lin\n"
            ),
        ),
    ),
    TableTask(
        name="shopping_list",
        instruction="Write a shopping list of three lines, milk, eggs and bread, "
        "into the open file shopping.txt and save it.",
        files={"Desktop/shopping.txt": ""},
        windows=(editor("Desktop/shopping.txt"),),
        checks=(file_holds(f"{HOME}/Desktop/shopping.txt", "milk\neggs\nbread"),),
    ),
    TableTask(
        name="chinese_greeting",
        instruction="Add the line 你好，世界 at the end of the open file greeting.txt and save it.",
        files={"Desktop/greeting.txt": "hello, world\nhola, mundo\n"},
        windows=(editor("Desktop/greeting.txt"),),
        checks=(file_holds(f"{HOME}/Desktop/greeting.txt", "hello, world\nhola, mundo\n你好，世界\n"),),
    ),
    TableTask(
        name="delete_draft",
        instruction="Delete the file old-draft.txt from the desktop and leave the others alone.",
        files={"Desktop/old-draft.txt": "first try\n", "Desktop/draft.txt": "second try\n"},
        checks=(file_absent(f"{HOME}/Desktop/old-draft.txt"), file_holds(f"{HOME}/Desktop/draft.txt", "second try\n")),
    ),
    TableTask(
        name="count_lines",
        instruction="Use the terminal to count the lines of data.csv in the home folder "
        "and write just the number into count.txt there.",
        files={"data.csv": "".join(f"{n},{n * n}\n" for n in range(137))},
        windows=(TERMINAL,),
        checks=(file_holds(f"{HOME}/count.txt", "137"),),
    ),
    TableTask(
        name="sort_names",
        instruction="Sort the lines of names.txt in the home folder alphabetically, in the file itself.",
        files={"names.txt": "Yusuf\nAda\nMei\nTomás\nBao\n"},
        windows=(TERMINAL,),
        checks=(file_holds(f"{HOME}/names.txt", "Ada\nBao\nMei\nTomás\nYusuf\n"),),
    ),
    TableTask(
        name="make_executable",
        instruction="Make the script run.sh in the home folder executable.",
        files={"run.sh": "#!/bin/sh\necho running\n"},
        windows=(TERMINAL,),
        checks=(is_executable(f"{HOME}/run.sh"),),
    ),
    TableTask(
        name="archive_logs",
        instruction="Make a folder named archive on the desktop and move the two .log files of the desktop into it.",
        files={"Desktop/monday.log": LOG, "Desktop/tuesday.log": LOG},
        windows=(TERMINAL,),
        checks=(
            file_holds(f"{HOME}/Desktop/archive/monday.log", LOG),
            file_holds(f"{HOME}/Desktop/archive/tuesday.log", LOG),
            file_absent(f"{HOME}/Desktop/monday.log"),
            file_absent(f"{HOME}/Desktop/tuesday.log"),
        ),
    ),
    TableTask(
        name="multiply",
        instruction="Use the calculator to work out 37 times 24 and give the result as the answer.",
        windows=(CALCULATOR,),
        checks=(answer_is("888"),),
    ),
    TableTask(
        name="find_falcon",
        instruction="One file in the folder Documents mentions a falcon. Give the name of that file as the answer.",
        files={
            "Documents/birds.txt": "heron\nkestrel\n",
            "Documents/travel.txt": "We saw a falcon above the pass.\n",
            "Documents/todo.txt": "call the dentist\n",
        },
        windows=(TERMINAL,),
        checks=(answer_is("travel.txt", "travel"),),
    ),
    TableTask(
        name="order_number",
        instruction="Open order.txt on the desktop and give the order number as the answer.",
        files={"Desktop/order.txt": "Order placed on 3 May\nOrder number: PH-48213\nTwo keyboards\n"},
        checks=(answer_is("PH-48213"),),
    ),
    TableTask(
        name="sum_sales",
        instruction="Add up the column amount of sales.csv in the home folder with Python, "
        "type the total into the open file total.txt and save it.",
        files={"sales.csv": SALES, "Desktop/total.txt": ""},
        windows=(editor("Desktop/total.txt"),),
        checks=(file_holds(f"{HOME}/Desktop/total.txt", str(sum(n * 37 % 101 for n in range(1, 61)))),),
    ),
    TableTask(
        name="sign_report",
        instruction="Run the script make_report.sh of the home folder with a command, "
        "then open the report.txt it makes on the desktop, add the line checked at its end and save it.",
        files={"make_report.sh": f"printf '{REPORT_MADE}' > Desktop/report.txt\n"},
        checks=(file_holds(f"{HOME}/Desktop/report.txt", "Weekly report\nTotal 512\nchecked"),),
    ),
)
"""Every bundled desktop task; the names are stable, records refer to them."""
