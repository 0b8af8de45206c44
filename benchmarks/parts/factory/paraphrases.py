"""Tasks in several wordings each, written by hand, from which pairs that say the same and near misses are drawn.

A wording has slots. Two wordings of a family with the same values say the same; another value or a negation makes
another task. The wordings differ in order, in grammar and in what is said around the values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "name", "date", "quote", "object"]
VALUES: Mapping[Kind, tuple[str, ...]] = {
    "number": ("3", "7", "12", "25", "40", "150", "2,400", "19.90"),
    "name": ("Marta", "Oyelaran", "Jun", "Beatrice", "Dimitri", "Priya"),
    "date": ("4 May", "11 May", "2 September", "23 October", "5 January", "17 June"),
    "quote": ('"Harvest"', '"Second floor"', '"Q3 plan"', '"Night shift"', '"Old ones"', '"Trip"'),
}
CHINESE_VALUES: Mapping[Kind, tuple[str, ...]] = {
    "number": ("3", "8", "15", "60", "120", "299"),
    "name": ("王芳", "李强", "赵敏", "陈晨", "孙丽"),
    "date": ("3月4日", "5月11日", "9月2日", "12月20日"),
    "quote": ("“收获”", "“二楼”", "“年度计划”", "“夜班”", "“旅行”"),
}


@dataclass(frozen=True)
class Family:
    """Wordings of one task. `objects` are things that stand in the slot `object`; `negated` says the task with one part
    that must not be done."""

    wordings: tuple[str, ...]
    negated: str
    objects: tuple[str, ...] = ()


def _family(*wordings: str, negated: str, objects: tuple[str, ...] = ()) -> Family:
    return Family(wordings, negated, objects)


ENGLISH: tuple[Family, ...] = (
    _family(
        "Make a folder called {quote} on the desktop and put the {object} into it.",
        "The {object} belong in a folder named {quote} on the desktop; make that folder and put them there.",
        "On the desktop, make a folder with the name {quote}. Then put the {object} there.",
        negated="Make a folder called {quote} on the desktop and put the {object} into it, but not the largest one.",
        objects=("invoices", "photos", "spreadsheets", "recordings"),
    ),
    _family(
        "Send {name} an email saying that the meeting on {date} starts at {number} o'clock.",
        "Email {name}: the meeting on {date} starts at {number} o'clock.",
        "Let {name} know by email that on {date} the meeting starts at {number} o'clock.",
        negated="Email {name}: the meeting on {date} does not start at {number} o'clock.",
    ),
    _family(
        "In the calendar, move the {object} with {name} from Monday to {date}.",
        "My {object} with {name} is on Monday in the calendar. Move it to {date}.",
        "Move Monday's {object} with {name} to {date} in the calendar.",
        negated="In the calendar, never move the {object} with {name} from Monday to {date}; only note the wish.",
        objects=("lunch", "interview", "rehearsal", "dentist appointment"),
    ),
    _family(
        "Sort the table by the column {quote} and keep the first {number} rows.",
        "Keep only the first {number} rows of the table after sorting it by its column {quote}.",
        "The table should be sorted by the {quote} column, and only its first {number} rows should be kept.",
        negated="Sort the table by the column {quote} without keeping the first {number} rows.",
    ),
    _family(
        "Order {number} {object} from the shop and have them shipped to {name}.",
        "{name} needs {number} {object} from the shop: order them and have them shipped there.",
        "From the shop, order {number} {object}, shipped to {name}.",
        negated="Put {number} {object} from the shop in the cart for {name}, but do not order them.",
        objects=("mugs", "lamps", "notebooks", "umbrellas"),
    ),
    _family(
        "Find the cheapest {object} under {number} dollars and tell me its name.",
        "What is the name of the cheapest {object} that costs under {number} dollars? Find it and tell me.",
        "Tell me what the cheapest {object} under {number} dollars is called.",
        negated="Find the cheapest {object} that is not under {number} dollars and tell me its name.",
        objects=("keyboard", "bicycle helmet", "kettle", "rain jacket"),
    ),
    _family(
        "Set the {object} volume to {number} percent in the system settings.",
        "In the system settings, the {object} volume should be set to {number} percent.",
        "Go to the system settings and put the {object} volume at {number} percent.",
        negated="Leave the {object} volume in the system settings as it is unless it is above {number} percent.",
        objects=("alarm", "notification", "microphone", "headphone"),
    ),
    _family(
        "Write a note {quote} that lists {number} ideas for the {object}.",
        "I want a note {quote} with a list of {number} ideas for the {object}. Please write it.",
        "List {number} ideas for the {object} in a note that is called {quote}.",
        negated="Write a note {quote} that lists {number} ideas, none of them for the {object}.",
        objects=("garden", "birthday", "office move", "school fair"),
    ),
    _family(
        "Book a train from the {object} on {date} for {number} passengers.",
        "For {number} passengers, book a train that leaves from the {object} on {date}.",
        "We are {number} passengers leaving from the {object} on {date}; book us a train.",
        negated="Look up a train from the {object} on {date} for {number} passengers, but don't book it.",
        objects=("airport", "harbour", "main station", "university"),
    ),
    _family(
        "Reply to {name}'s last message with {quote} and mark it as unread.",
        "{name}'s last message should get the reply {quote} and then be marked as unread.",
        "Mark the last message of {name} as unread after replying {quote} to it.",
        negated="Reply to {name}'s last message with {quote}; do not mark it as unread.",
    ),
    _family(
        "In the spreadsheet, color all cells of the {object} column that are above {number} yellow.",
        "Color yellow every cell above {number} in the spreadsheet's {object} column.",
        "The {object} column of the spreadsheet has cells above {number}; color these yellow.",
        negated="In the spreadsheet, color all cells of the {object} column that are not above {number} yellow.",
        objects=("price", "weight", "distance", "age"),
    ),
    _family(
        "Create a poll in the group {quote} that asks on which day to hold the {object}: {date} or later.",
        "Ask the group {quote} in a poll whether to hold the {object} on {date} or later.",
        "A poll for the group {quote}: on which day do we hold the {object}, {date} or later? Create it.",
        negated="Create a poll in the group {quote} about the {object} that does not offer {date}.",
        objects=("picnic", "workshop", "tournament", "concert"),
    ),
    _family(
        "Crop the picture of the {object} to {number} pixels on each side and save it as {quote}.",
        "Save the picture of the {object} as {quote} after cropping it to {number} pixels on each side.",
        "The {object}'s picture should be cropped to {number} pixels a side, then saved as {quote}.",
        negated="Save the picture of the {object} as {quote} without cropping it to {number} pixels.",
        objects=("bridge", "castle", "squirrel", "lighthouse"),
    ),
    _family(
        "Add the song {quote} to the playlist for the {object} and play it {number} times.",
        "Play {quote} {number} times once the song is added to the {object} playlist.",
        "The playlist for the {object} should have the song {quote}; add it, and play it {number} times.",
        negated="Add the song {quote} to the playlist for the {object}; it must not be played {number} times.",
        objects=("party", "commute", "workout", "dinner"),
    ),
    _family(
        "Split the document at page {number} and email the second half to {name}.",
        "Email {name} the second half of the document, split at page {number}.",
        "At page {number}, split the document; {name} gets the second half by email.",
        negated="Split the document at page {number}, but never email the second half to {name}.",
    ),
    _family(
        "Set a reminder for {date} that says {quote} and repeats every {number} days.",
        "Every {number} days from {date}, a reminder should say {quote}. Set it.",
        "I need a reminder {quote} on {date}, repeated every {number} days. Set it up.",
        negated="Set a reminder for {date} that says {quote} and does not repeat every {number} days.",
    ),
    _family(
        "On the board, assign the card {quote} to {name} and give it the label {object}.",
        "Give the card {quote} on the board the label {object}, and assign it to {name}.",
        "{name} should be assigned the card {quote} on the board, with {object} as its label.",
        negated="On the board, assign the card {quote} to {name}, without the label {object}.",
        objects=("urgent", "design", "blocked", "research"),
    ),
    _family(
        "Translate the second paragraph of the {object} into German in at most {number} words.",
        "In at most {number} words, translate into German the second paragraph of the {object}.",
        "The {object}'s second paragraph should be translated into German, with {number} words at most.",
        negated="Translate all of the {object} but not the second paragraph into German in at most {number} words.",
        objects=("contract", "recipe", "press release", "manual"),
    ),
    _family(
        "Block the number of {name} on the phone until {date}.",
        "Until {date}, the phone should block {name}'s number.",
        "Please have the phone block calls from the number of {name} until {date}.",
        negated="Do not block the number of {name} on the phone until {date}.",
    ),
    _family(
        "In the terminal, count the lines of {quote} that contain the word {object} and write the count to a file.",
        "Write to a file how many lines of {quote} contain the word {object}; count them in the terminal.",
        "Use the terminal to count the lines with the word {object} in {quote}, and write the count to a file.",
        negated="In the terminal, count the lines of {quote} that do not contain the word {object}.",
        objects=("error", "warning", "timeout", "refused"),
    ),
)

CHINESE: tuple[Family, ...] = (
    _family(
        "请给{name}发一封邮件，说{date}的会议{number}点开始。",
        "发邮件告诉{name}：{date}的会议{number}点开始。",
        "{date}的会议{number}点开始，发邮件跟{name}说一声。",
        negated="发邮件告诉{name}：{date}的会议不是{number}点开始。",
    ),
    _family(
        "在日历中把和{name}的{object}移到{date}。",
        "把日历里和{name}的{object}移到{date}吧。",
        "麻烦你把我和{name}的{object}在日历上移到{date}。",
        negated="不要在日历中把和{name}的{object}移到{date}。",
        objects=("午餐", "面试", "排练", "体检"),
    ),
    _family(
        "从商店订{number}个{object}，送到{name}那里。",
        "{name}要{number}个{object}，从商店订好送到那里。",
        "请从商店里订{number}个{object}送给{name}。",
        negated="把{number}个{object}放进商店的购物车给{name}，但不要下单。",
        objects=("杯子", "台灯", "笔记本", "雨伞"),
    ),
    _family(
        "在表格里按{quote}列排序，只留前{number}行。",
        "表格按{quote}这一列排序后，只留下前{number}行。",
        "帮我把表格按{quote}列排序，然后只留前{number}行。",
        negated="在表格里按{quote}列排序，不要只留前{number}行。",
    ),
    _family(
        "把系统的{object}音量调到百分之{number}。",
        "系统里的{object}音量请调到百分之{number}。",
        "我想让系统的{object}音量调到百分之{number}，麻烦了。",
        negated="别把系统的{object}音量调到百分之{number}。",
        objects=("闹钟", "通知", "麦克风", "耳机"),
    ),
    _family(
        "在桌面上建一个叫{quote}的文件夹，把{object}放进去。",
        "桌面上建个文件夹，名字叫{quote}，再把{object}放进去。",
        "请把{object}放进桌面上名叫{quote}的文件夹，文件夹要先建好。",
        negated="在桌面上建一个叫{quote}的文件夹，但不要把{object}放进去。",
        objects=("发票", "照片", "录音", "合同"),
    ),
)
