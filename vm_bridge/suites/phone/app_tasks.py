"""Phone tasks about things: the shop, alarms, the calculator and the phone's own settings."""

from random import Random
from typing import Any

from protocol.actions.types import Finish, OpenApp, TypeText
from vm_bridge.suites.phone.contact_tasks import find_contact, message_sent, write_to
from vm_bridge.suites.phone.task import (
    ExpertStep,
    Mistake,
    PhoneTask,
    Touch,
    answer_contains,
    finish_step,
    home_step,
    open_app_step,
    state_equals,
    tap_step,
    type_step,
    unchanged,
)
from vm_bridge.suites.phone.world import World

LABELS = ("Train", "Gym", "Dentist", "Call home")
CITIES = ("Sydney", "Beijing", "New York", "Cairo")
UNCHANGED_APPS = ("contacts", "messages", "notes")


def euros(cents: int) -> str:
    """A price as the shop writes it."""
    return f"€{cents // 100}.{cents % 100:02}"


def dark_mode(world: World, pick: Random) -> PhoneTask:
    return PhoneTask(
        instruction="Switch the phone to the dark theme.",
        world=world,
        checks=(_settings(world, theme="dark"), unchanged(*UNCHANGED_APPS, "shop", "clock")),
        expert_steps=(
            tap_step(
                "Settings", "The theme is a setting. I open Settings.", Mistake(Touch("Clock"), "I open the dark icon.")
            ),
            tap_step("Theme", "Theme stands under Display and says Light."),
            tap_step(
                "Dark",
                "The menu offers Light and Dark. I choose Dark.",
                Mistake(Touch("Light"), "I choose the first entry.", 0.2),
            ),
            finish_step("Everything is dark now."),
        ),
    )


def quiet_flight(world: World, pick: Random) -> PhoneTask:
    return PhoneTask(
        instruction="Turn on airplane mode and do not disturb, and set the font size to large.",
        world=world,
        checks=(
            state_equals(
                "airplane mode, do not disturb and the font size",
                lambda now: [now["settings"][key] for key in ("airplane", "do_not_disturb", "font_size")],
                [True, True, "large"],
            ),
            unchanged(*UNCHANGED_APPS, "shop", "clock"),
        ),
        expert_steps=(
            tap_step("Settings", "All three are settings."),
            tap_step("Airplane mode", "The first switch is airplane mode."),
            tap_step(
                "Do not disturb",
                "Do not disturb is further down.",
                Mistake(Touch("Bluetooth"), "I tap the next switch."),
            ),
            tap_step("Font size", "Now the font size."),
            tap_step("Large", "I choose Large.", Mistake(Finish(), "The switches are on, so the task is done.", 0.2)),
            finish_step("Both switches are on and the text is large."),
        ),
    )


def join_network(world: World, pick: Random) -> PhoneTask:
    network = pick.choice(world["settings"]["networks"][1:])
    return PhoneTask(
        instruction=f"Connect the phone to the Wi-Fi network {network}.",
        world=world,
        checks=(_settings(world, network=network), unchanged(*UNCHANGED_APPS, "shop", "clock")),
        expert_steps=(
            tap_step("Settings", "Networks are in Settings."),
            tap_step("Wi-Fi", "I open Wi-Fi to see the networks."),
            tap_step(network, f"{network} is in the list.", Mistake(Touch("Use Wi-Fi"), "I switch Wi-Fi on.", 0.4)),
            finish_step(f"The phone says that it is connected to {network}."),
        ),
    )


def set_alarm(world: World, pick: Random) -> PhoneTask:
    hour, minute, label = pick.choice((5, 6, 7)), pick.choice((10, 15, 20)), pick.choice(LABELS)
    time = f"{hour:02}:{minute:02}"
    alarm = {"time": time, "label": label, "days": [6, 7], "on": True}
    return PhoneTask(
        instruction=f"Set an alarm for {time} on Saturdays and Sundays, labelled {label}.",
        world=world,
        checks=(
            state_equals("the alarms", _alarms, sorted([*_alarms(world), alarm], key=str)),
            unchanged(*UNCHANGED_APPS, "settings", "shop"),
        ),
        expert_steps=(
            tap_step("Clock", "Alarms are in Clock."),
            tap_step("New alarm", "The plus makes a new alarm."),
            tap_step("Clear: Time", "I type the time instead of tapping many times. First the field is cleared."),
            type_step(time, "I type the time."),
            tap_step(
                "Sat", "Saturday is the first of the two S.", Mistake(Touch("Mon"), "I start with the first day.")
            ),
            tap_step("Sun", "Sunday is the last."),
            tap_step("Label", "I tap the field for the label."),
            type_step(label, "I type the label."),
            tap_step("Save", "Time, days and label are right. I save."),
            finish_step("The new alarm is in the list and on."),
        ),
    )


def alarm_off(world: World, pick: Random) -> PhoneTask:
    alarm = pick.choice([one for one in world["clock"]["alarms"] if one["on"]])
    alarms = [one | {"on": one["on"] and one is not alarm} for one in world["clock"]["alarms"]]
    return PhoneTask(
        instruction=f"Switch off the alarm named {alarm['label']}, but do not delete it.",
        world=world,
        checks=(
            state_equals("the alarms", _alarms, _alarms({"clock": {"alarms": alarms}})),
            unchanged(*UNCHANGED_APPS, "settings", "shop"),
        ),
        expert_steps=(
            tap_step("Clock", "Alarms are in Clock."),
            tap_step(
                f"Alarm {alarm['time']}",
                f"{alarm['label']} is the alarm at {alarm['time']}. Its switch is on the right.",
                Mistake(Touch("Alarm 08:30"), "I tap the switch in the list.", 0.35),
            ),
            finish_step("The switch is off."),
        ),
    )


def add_city(world: World, pick: Random) -> PhoneTask:
    city = pick.choice(CITIES)
    return PhoneTask(
        instruction=f"Add {city} to the world clock.",
        world=world,
        checks=(
            state_equals(
                "the cities", lambda now: sorted(now["clock"]["cities"]), sorted([*world["clock"]["cities"], city])
            ),
            state_equals("the alarms", _alarms, _alarms(world)),
            unchanged(*UNCHANGED_APPS, "settings", "shop"),
        ),
        expert_steps=(
            tap_step("Clock", "The world clock is in Clock."),
            tap_step(
                "World", "The second tab is the world clock.", Mistake(Touch("New alarm"), "I tap the plus.", 0.35)
            ),
            tap_step("Add city", "The plus adds a city."),
            tap_step(city, f"{city} is in the list."),
            finish_step(f"{city} is on the world clock."),
        ),
    )


def order(world: World, pick: Random) -> PhoneTask:
    product = pick.choice(world["shop"]["products"])
    name = product["name"]
    return PhoneTask(
        instruction=f"Order two of the item {name} in the shop, to the address the shop knows.",
        world=world,
        checks=(
            state_equals(
                "the orders",
                lambda now: [(one["items"], one["address"]) for one in now["shop"]["orders"]],
                [({product["id"]: 2}, world["shop"]["address"])],
            ),
            unchanged(*UNCHANGED_APPS, "settings", "clock"),
        ),
        expert_steps=(
            *_find_product(name),
            tap_step("Add to cart", "I put one into the cart."),
            tap_step("Add to cart", "And a second one.", Mistake(Touch("Wish for it"), "I add it again.", 0.25)),
            tap_step("Cart", "The cart shows 2. I open it."),
            tap_step(
                "Check out",
                "Two pieces, the right item. On to the checkout.",
                Mistake(Touch(f"More: {name}"), "I raise the number to two.", 0.4),
            ),
            tap_step("Place order", "The address is filled in already. I place the order."),
            finish_step("The shop says that the order was placed."),
        ),
    )


def price(world: World, pick: Random) -> PhoneTask:
    product = pick.choice(world["shop"]["products"])
    cost = euros(product["price"])
    return PhoneTask(
        instruction=f"How much does the item {product['name']} cost in the shop? Give the price as the answer.",
        world=world,
        checks=(answer_contains(cost[1:]), unchanged(*UNCHANGED_APPS, "settings", "shop", "clock")),
        expert_steps=(
            *_find_product(product["name"])[:-1],
            finish_step(
                f"It costs {cost}.",
                answer=cost,
                mistake=Mistake(Finish(answer=euros(product["price"] + 90)), "The price is on the screen.", 0.4),
            ),
        ),
    )


def text_cart_total(world: World, pick: Random) -> PhoneTask:
    products = pick.sample(world["shop"]["products"], 3)
    cart = {product["id"]: pick.randrange(1, 4) for product in products}
    world = world | {"shop": world["shop"] | {"cart": cart}}
    total = world["shop"]["shipping"] + sum(product["price"] * cart[product["id"]] for product in products)
    person = pick.choice(world["contacts"]["people"])
    goods = total - world["shop"]["shipping"]
    return PhoneTask(
        instruction=f"Text {person['name']} the total of the shopping cart, with shipping. "
        "Send only the amount, as the shop writes it.",
        world=world,
        checks=(*message_sent(person, euros(total)), unchanged("contacts", "notes", "settings", "shop", "clock")),
        expert_steps=(
            tap_step("Shop", "First I look at the cart."),
            tap_step("Cart", "The number at the top right is the cart."),
            home_step(f"The total with shipping is {euros(total)}. I go home."),
            *find_contact(person["name"]),
            *write_to(
                person["name"],
                euros(total),
                Mistake(TypeText(text=euros(goods)), "I write the price of the goods.", 0.55),
            ),
            finish_step("The amount was sent."),
        ),
    )


def split_bill(world: World, pick: Random) -> PhoneTask:
    share, people = pick.randrange(12, 60), pick.choice((3, 4, 6))
    person = pick.choice(world["contacts"]["people"])
    bill = share * people
    return PhoneTask(
        instruction=f"A bill of {bill} euros is shared by {people} people. Work out one share with the calculator "
        f"and send {person['name']} just that number as a message.",
        world=world,
        checks=(
            state_equals(
                "the calculator's last result",
                lambda now: (now["calculator"]["history"] or [{"result": None}])[0]["result"],
                str(share),
            ),
            *message_sent(person, str(share)),
            unchanged("contacts", "notes", "settings", "shop", "clock"),
        ),
        expert_steps=(
            open_app_step(
                "Calculator", "I work it out first.", Mistake(OpenApp(name="Notes"), "I make a note of it.", 0.2)
            ),
            *(tap_step(digit, f"I enter the bill, {bill}.") for digit in str(bill)),
            tap_step("÷", "Divided by."),
            tap_step(str(people), f"{people} people."),
            tap_step("=", "And the result."),
            *find_contact(person["name"]),
            *write_to(
                person["name"],
                str(share),
                Mistake(TypeText(text=str(share + 1)), "I write the share.", 0.35),
            ),
            finish_step("The share was sent."),
        ),
    )


def _find_product(name: str) -> tuple[ExpertStep, ...]:
    return (
        tap_step("Shop", "I open the shop."),
        tap_step("Search goods", "I search for the item."),
        type_step(name.split()[0], f"I type {name.split()[0]}."),
        tap_step(name, "There it is. I open it."),
    )


def _alarms(world: World) -> list[dict[str, Any]]:
    """The alarms without their ids, in an order of their own."""
    return sorted(
        ({key: one[key] for key in ("time", "label", "days", "on")} for one in world["clock"]["alarms"]), key=str
    )


def _settings(world: World, **changed: Any) -> Any:
    return state_equals("the settings", lambda now: now["settings"], world["settings"] | changed)
