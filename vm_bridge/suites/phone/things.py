"""Phone tasks about things: the shop, alarms, the calculator and the phone's own settings."""

from random import Random
from typing import Any

from vm_bridge.suites.phone.errand import (
    Errand,
    Move,
    Touch,
    Wrong,
    answered,
    done,
    holds,
    home,
    started,
    tap,
    typed,
    untouched,
)
from vm_bridge.suites.phone.people import find_contact, messaged, write_to
from vm_bridge.suites.phone.world import World
from vocabulary.actions import Finish, OpenApp, TypeText

LABELS = ("Train", "Gym", "Dentist", "Call home")
CITIES = ("Sydney", "Beijing", "New York", "Cairo")
OTHERS = ("contacts", "messages", "notes")


def euros(cents: int) -> str:
    """A price as the shop writes it."""
    return f"€{cents // 100}.{cents % 100:02}"


def dark_mode(world: World, pick: Random) -> Errand:
    return Errand(
        instruction="Switch the phone to the dark theme.",
        world=world,
        checks=(_settings(world, theme="dark"), untouched(*OTHERS, "shop", "clock")),
        moves=(
            tap("Settings", "The theme is a setting. I open Settings.", Wrong(Touch("Clock"), "I open the dark icon.")),
            tap("Theme", "Theme stands under Display and says Light."),
            tap(
                "Dark",
                "The menu offers Light and Dark. I choose Dark.",
                Wrong(Touch("Light"), "I choose the first entry.", 0.2),
            ),
            done("Everything is dark now."),
        ),
    )


def quiet_flight(world: World, pick: Random) -> Errand:
    return Errand(
        instruction="Turn on airplane mode and do not disturb, and set the font size to large.",
        world=world,
        checks=(
            holds(
                "airplane mode, do not disturb and the font size",
                lambda now: [now["settings"][key] for key in ("airplane", "do_not_disturb", "font_size")],
                [True, True, "large"],
            ),
            untouched(*OTHERS, "shop", "clock"),
        ),
        moves=(
            tap("Settings", "All three are settings."),
            tap("Airplane mode", "The first switch is airplane mode."),
            tap(
                "Do not disturb", "Do not disturb is further down.", Wrong(Touch("Bluetooth"), "I tap the next switch.")
            ),
            tap("Font size", "Now the font size."),
            tap("Large", "I choose Large.", Wrong(Finish(), "The switches are on, so the task is done.", 0.2)),
            done("Both switches are on and the text is large."),
        ),
    )


def join_network(world: World, pick: Random) -> Errand:
    network = pick.choice(world["settings"]["networks"][1:])
    return Errand(
        instruction=f"Connect the phone to the Wi-Fi network {network}.",
        world=world,
        checks=(_settings(world, network=network), untouched(*OTHERS, "shop", "clock")),
        moves=(
            tap("Settings", "Networks are in Settings."),
            tap("Wi-Fi", "I open Wi-Fi to see the networks."),
            tap(network, f"{network} is in the list.", Wrong(Touch("Use Wi-Fi"), "I switch Wi-Fi on.", 0.4)),
            done(f"The phone says that it is connected to {network}."),
        ),
    )


def set_alarm(world: World, pick: Random) -> Errand:
    hour, minute, label = pick.choice((5, 6, 7)), pick.choice((10, 15, 20)), pick.choice(LABELS)
    time = f"{hour:02}:{minute:02}"
    alarm = {"time": time, "label": label, "days": [6, 7], "on": True}
    return Errand(
        instruction=f"Set an alarm for {time} on Saturdays and Sundays, labelled {label}.",
        world=world,
        checks=(
            holds("the alarms", _alarms, sorted([*_alarms(world), alarm], key=str)),
            untouched(*OTHERS, "settings", "shop"),
        ),
        moves=(
            tap("Clock", "Alarms are in Clock."),
            tap("New alarm", "The plus makes a new alarm."),
            tap("Clear: Time", "I type the time instead of tapping many times. First the field is cleared."),
            typed(time, "I type the time."),
            tap("Sat", "Saturday is the first of the two S.", Wrong(Touch("Mon"), "I start with the first day.")),
            tap("Sun", "Sunday is the last."),
            tap("Label", "I tap the field for the label."),
            typed(label, "I type the label."),
            tap("Save", "Time, days and label are right. I save."),
            done("The new alarm is in the list and on."),
        ),
    )


def alarm_off(world: World, pick: Random) -> Errand:
    alarm = pick.choice([one for one in world["clock"]["alarms"] if one["on"]])
    alarms = [one | {"on": one["on"] and one is not alarm} for one in world["clock"]["alarms"]]
    return Errand(
        instruction=f"Switch off the alarm named {alarm['label']}, but do not delete it.",
        world=world,
        checks=(
            holds("the alarms", _alarms, _alarms({"clock": {"alarms": alarms}})),
            untouched(*OTHERS, "settings", "shop"),
        ),
        moves=(
            tap("Clock", "Alarms are in Clock."),
            tap(
                f"Alarm {alarm['time']}",
                f"{alarm['label']} is the alarm at {alarm['time']}. Its switch is on the right.",
                Wrong(Touch("Alarm 08:30"), "I tap the switch in the list.", 0.35),
            ),
            done("The switch is off."),
        ),
    )


def add_city(world: World, pick: Random) -> Errand:
    city = pick.choice(CITIES)
    return Errand(
        instruction=f"Add {city} to the world clock.",
        world=world,
        checks=(
            holds("the cities", lambda now: sorted(now["clock"]["cities"]), sorted([*world["clock"]["cities"], city])),
            holds("the alarms", _alarms, _alarms(world)),
            untouched(*OTHERS, "settings", "shop"),
        ),
        moves=(
            tap("Clock", "The world clock is in Clock."),
            tap("World", "The second tab is the world clock.", Wrong(Touch("New alarm"), "I tap the plus.", 0.35)),
            tap("Add city", "The plus adds a city."),
            tap(city, f"{city} is in the list."),
            done(f"{city} is on the world clock."),
        ),
    )


def order(world: World, pick: Random) -> Errand:
    product = pick.choice(world["shop"]["products"])
    name = product["name"]
    return Errand(
        instruction=f"Order two of the item {name} in the shop, to the address the shop knows.",
        world=world,
        checks=(
            holds(
                "the orders",
                lambda now: [(one["items"], one["address"]) for one in now["shop"]["orders"]],
                [({product["id"]: 2}, world["shop"]["address"])],
            ),
            untouched(*OTHERS, "settings", "clock"),
        ),
        moves=(
            *_find_product(name),
            tap("Add to cart", "I put one into the cart."),
            tap("Add to cart", "And a second one.", Wrong(Touch("Wish for it"), "I add it again.", 0.25)),
            tap("Cart", "The cart shows 2. I open it."),
            tap(
                "Check out",
                "Two pieces, the right item. On to the checkout.",
                Wrong(Touch(f"More: {name}"), "I raise the number to two.", 0.4),
            ),
            tap("Place order", "The address is filled in already. I place the order."),
            done("The shop says that the order was placed."),
        ),
    )


def price(world: World, pick: Random) -> Errand:
    product = pick.choice(world["shop"]["products"])
    cost = euros(product["price"])
    return Errand(
        instruction=f"How much does the item {product['name']} cost in the shop? Give the price as the answer.",
        world=world,
        checks=(answered(cost[1:]), untouched(*OTHERS, "settings", "shop", "clock")),
        moves=(
            *_find_product(product["name"])[:-1],
            done(
                f"It costs {cost}.",
                answer=cost,
                wrong=Wrong(Finish(answer=euros(product["price"] + 90)), "The price is on the screen.", 0.4),
            ),
        ),
    )


def text_cart_total(world: World, pick: Random) -> Errand:
    products = pick.sample(world["shop"]["products"], 3)
    cart = {product["id"]: pick.randrange(1, 4) for product in products}
    world = world | {"shop": world["shop"] | {"cart": cart}}
    total = world["shop"]["shipping"] + sum(product["price"] * cart[product["id"]] for product in products)
    person = pick.choice(world["contacts"]["people"])
    goods = total - world["shop"]["shipping"]
    return Errand(
        instruction=f"Text {person['name']} the total of the shopping cart, with shipping. "
        "Send only the amount, as the shop writes it.",
        world=world,
        checks=(*messaged(person, euros(total)), untouched("contacts", "notes", "settings", "shop", "clock")),
        moves=(
            tap("Shop", "First I look at the cart."),
            tap("Cart", "The number at the top right is the cart."),
            home(f"The total with shipping is {euros(total)}. I go home."),
            *find_contact(person["name"]),
            *write_to(
                person["name"],
                euros(total),
                Wrong(TypeText(text=euros(goods)), "I write the price of the goods.", 0.55),
            ),
            done("The amount was sent."),
        ),
    )


def split_bill(world: World, pick: Random) -> Errand:
    share, people = pick.randrange(12, 60), pick.choice((3, 4, 6))
    person = pick.choice(world["contacts"]["people"])
    bill = share * people
    return Errand(
        instruction=f"A bill of {bill} euros is shared by {people} people. Work out one share with the calculator "
        f"and send {person['name']} just that number as a message.",
        world=world,
        checks=(
            holds(
                "the calculator's last result",
                lambda now: (now["calculator"]["history"] or [{"result": None}])[0]["result"],
                str(share),
            ),
            *messaged(person, str(share)),
            untouched("contacts", "notes", "settings", "shop", "clock"),
        ),
        moves=(
            started("Calculator", "I work it out first.", Wrong(OpenApp(name="Notes"), "I make a note of it.", 0.2)),
            *(tap(digit, f"I enter the bill, {bill}.") for digit in str(bill)),
            tap("÷", "Divided by."),
            tap(str(people), f"{people} people."),
            tap("=", "And the result."),
            *find_contact(person["name"]),
            *write_to(
                person["name"],
                str(share),
                Wrong(TypeText(text=str(share + 1)), "I write the share.", 0.35),
            ),
            done("The share was sent."),
        ),
    )


def _find_product(name: str) -> tuple[Move, ...]:
    return (
        tap("Shop", "I open the shop."),
        tap("Search goods", "I search for the item."),
        typed(name.split()[0], f"I type {name.split()[0]}."),
        tap(name, "There it is. I open it."),
    )


def _alarms(world: World) -> list[dict[str, Any]]:
    """The alarms without their ids, in an order of their own."""
    return sorted(
        ({key: one[key] for key in ("time", "label", "days", "on")} for one in world["clock"]["alarms"]), key=str
    )


def _settings(world: World, **changed: Any) -> Any:
    return holds("the settings", lambda now: now["settings"], world["settings"] | changed)
