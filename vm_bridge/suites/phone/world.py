"""What a phone holds when a task begins: people, messages, goods, alarms, notes; the same for the same seed."""

import random
from datetime import datetime, timedelta
from typing import Any

World = dict[str, Any]
"""The phone's state as its server keeps it: `now`, and one object for each app."""

PEOPLE = (
    *(
        "Anna Berg",
        "Ben Carter",
        "Chiara Rossi",
        "David Okafor",
        "Elif Kaya",
        "Farid Haddad",
        "Grace Kim",
        "Hugo Martin",
    ),
    *("Ines Silva", "Jonas Weber", "Lena Novak", "Mei Tanaka", "Nadia Popova", "Omar Diallo", "Priya Nair", "王小明"),
    *("李娜", "Rosa Delgado", "Sam Taylor", "Tomás Vega", "Uma Patel", "Yusuf Demir"),
)
CHATS = (
    (
        ("Are we still on for Thursday?", "them"),
        ("Yes, see you at seven.", "me"),
        ("Great, I'll book a table.", "them"),
    ),
    (("The parcel arrived this morning.", "them"), ("Thank you for taking it in!", "me")),
    (("Can you send me the address of the dentist?", "them"),),
    (("Happy birthday!", "me"), ("Thank you, that is so kind.", "them")),
    (("周末一起去爬山吗？", "them"), ("好啊，几点出发？", "me"), ("早上八点在地铁站见。", "them")),
    (("I left my umbrella at your place.", "them"), ("No problem, I'll bring it on Monday.", "me")),
    (("The meeting moved to 15:30, room 4.", "them"),),
)
PRODUCTS = (
    ("Desk lamp", "台灯", "home", 3490),
    ("Ceramic mug", "陶瓷杯", "home", 890),
    ("Cotton towel", "棉毛巾", "home", 1250),
    ("Notebook A5", "A5 笔记本", "office", 650),
    ("Gel pen set", "中性笔套装", "office", 1190),
    ("Wireless mouse", "无线鼠标", "office", 2790),
    ("Travel adapter", "旅行转换插头", "travel", 1590),
    ("Neck pillow", "颈枕", "travel", 1890),
    ("Water bottle", "水壶", "travel", 1450),
    ("Green tea", "绿茶", "food", 780),
    ("Dark chocolate", "黑巧克力", "food", 420),
    ("Olive oil", "橄榄油", "food", 1125),
)
NOTES = (
    ("Packing list", "Passport\nCharger\nRain jacket\nToothbrush"),
    ("Book ideas", "The lighthouse keeper\nA map of small rivers"),
    ("Wi-Fi at the office", "Network: Maple Office\nAsk at the front desk for the password."),
    ("Plants", "Water the fern on Mondays and Fridays."),
)
ALARMS = (
    ("06:45", "Wake up", (1, 2, 3, 4, 5), True),
    ("08:30", "Weekend", (6, 7), False),
    ("13:00", "Medicine", (1, 2, 3, 4, 5, 6, 7), True),
    ("18:15", "Language class", (2, 4), True),
)
"""Time, label, days (1 is Monday), whether it is on."""
NETWORKS = ("Maple Home", "Maple Office", "Cafe Nordlicht", "TrainNet")
FIRST_DAY = datetime(2026, 3, 2, 9, 41)
SHIPPING = 490
"""Price of sending an order, in cents, whatever it holds."""


def make_world(seed: int) -> World:
    """The state for a seed; a JSON object."""
    pick = random.Random(f"phone-{seed}")
    now = FIRST_DAY + timedelta(days=pick.randrange(60))
    people = _people(pick)
    return {
        "now": now.isoformat(timespec="seconds"),
        "settings": {
            **{"language": "en", "theme": "light", "font_size": "normal", "brightness": 80, "volume": 50},
            **{"wifi": True, "network": NETWORKS[0], "networks": list(NETWORKS), "bluetooth": True},
            **{"airplane": False, "do_not_disturb": False},
        },
        "contacts": {"people": people, "calls": []},
        "messages": {"threads": _threads(pick, people, now)},
        "shop": {
            "products": [
                {"id": f"p{index}", "name": name, "name_zh": zh, "category": category, "price": price}
                for index, (name, zh, category, price) in enumerate(PRODUCTS, start=1)
            ],
            **{"shipping": SHIPPING, "cart": {}, "wishes": [], "orders": []},
            "address": "12 Harbour Street, 20457 Hamburg",
        },
        "clock": {
            "alarms": [
                {"id": f"a{index}", "time": time, "label": label, "days": list(days), "on": on}
                for index, (time, label, days, on) in enumerate(ALARMS, start=1)
            ],
            **{"cities": ["London", "Tokyo"], "timer": 0},
        },
        "notes": {"notes": _notes(now)},
        "calculator": {"line": "", "shown": "0", "history": []},
    }


def _people(pick: random.Random) -> list[dict[str, Any]]:
    return [
        {"id": f"c{index}", "name": name, "phone": phone_number(pick), "email": "", "favourite": index % 7 == 0}
        for index, name in enumerate(PEOPLE, start=1)
    ]


def phone_number(pick: random.Random) -> str:
    """A made-up number, in the range that is kept for fiction."""
    return f"+1 555 01{pick.randrange(100):02} {pick.randrange(10_000):04}"


def _threads(pick: random.Random, people: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    partners = pick.sample(people, len(CHATS))
    threads = []
    for index, (person, chat) in enumerate(zip(partners, CHATS, strict=True), start=1):
        began = now - timedelta(hours=7 * index, minutes=pick.randrange(60))
        messages = [
            {"from": sender, "text": text, "at": (began + timedelta(minutes=4 * turn)).isoformat(timespec="seconds")}
            for turn, (text, sender) in enumerate(chat)
        ]
        threads.append({"id": f"t{index}", "person": person["id"], "unread": index in (1, 3), "messages": messages})
    return threads


def _notes(now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "id": f"n{index}",
            "title": title,
            "body": body,
            "at": (now - timedelta(days=3 * index)).isoformat(timespec="seconds"),
        }
        for index, (title, body) in enumerate(NOTES, start=1)
    ]
