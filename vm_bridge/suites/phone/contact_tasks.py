"""Phone tasks about people: contacts, messages, and what is carried from one to the other."""

from random import Random
from typing import Any

from protocol.actions.types import Finish, TypeText
from vm_bridge.suites.phone.task import (
    Check,
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
from vm_bridge.suites.phone.world import World, phone_number

NEW_PEOPLE = ("Karin Lind", "Pavel Dvorak", "Zoe Baker", "Amir Rahimi", "Noor Jansen")
REPLIES = (
    "Thanks, I will be there at six.",
    "Sorry, I cannot make it today.",
    "好的，明天见！",
    "Sounds good, see you soon.",
)
GREETINGS = ("I am running ten minutes late.", "The keys are under the blue pot.", "我已经到家了。")
OTHER_APPS = ("settings", "shop", "clock", "notes")


def last_message(world: World, person: str) -> dict[str, str] | None:
    """Who wrote the last message of the conversation with this contact, and what; None without a conversation."""
    threads = [thread for thread in world["messages"]["threads"] if thread["person"] == person]
    if not threads or not threads[0]["messages"]:
        return None
    message = threads[0]["messages"][-1]
    return {"from": message["from"], "text": message["text"]}


def one_message_sent(person: str) -> Check:
    """Exactly one message was written, and to this contact: nobody was bothered twice or by mistake."""

    def counts(world: World) -> dict[str, int]:
        return {thread["person"]: len(thread["messages"]) for thread in world["messages"]["threads"]}

    def check(start: World, now: World, answer: str) -> str:
        expected = counts(start)
        expected[person] = expected.get(person, 0) + 1
        return "" if counts(now) == expected else "exactly one message should have been sent, to the right person"

    return check


def contacts_equal(people: list[dict[str, Any]]) -> Check:
    """The contacts are these and no others, whatever their order."""

    def names(world: World) -> list[tuple[str, str]]:
        return sorted((person["name"], person["phone"]) for person in world["contacts"]["people"])

    return state_equals("the contacts", names, sorted((person["name"], person["phone"]) for person in people))


def message_sent(person: dict[str, Any], text: str) -> tuple[Check, ...]:
    """This text, and only this, was sent to this contact."""
    return (
        state_equals(
            f"the last message with {person['name']}",
            lambda now: last_message(now, person["id"]),
            {"from": "me", "text": text},
        ),
        one_message_sent(person["id"]),
    )


def find_contact(name: str) -> tuple[ExpertStep, ...]:
    """From anywhere to a person's page in Contacts."""
    return (
        open_app_step("Contacts", "I need the address book, so I open Contacts."),
        tap_step("Search contacts", "The list is long. I put the cursor into the search field."),
        type_step(name.split()[0], f"I search for {name.split()[0]}."),
        tap_step(name, f"{name} is found. I open the entry."),
    )


def write_to(name: str, text: str, mistake: Mistake | None = None) -> tuple[ExpertStep, ...]:
    """From a person's page in Contacts to a message sent to them."""
    return (
        tap_step("Send message", f"This is {name}'s page. Send message opens the conversation."),
        tap_step("Message", "I put the cursor into the message field."),
        type_step(text, "I write the message.", mistake),
        tap_step("Send", "The text is in the field. The arrow sends it."),
    )


def add_contact(world: World, pick: Random) -> PhoneTask:
    name, phone = pick.choice(NEW_PEOPLE), phone_number(pick)
    people = [*world["contacts"]["people"], {"name": name, "phone": phone}]
    return PhoneTask(
        instruction=f"Add a contact named {name} with the phone number {phone}.",
        world=world,
        checks=(contacts_equal(people), unchanged("messages", *OTHER_APPS)),
        expert_steps=(
            tap_step("Contacts", "A new contact is made in the app Contacts."),
            tap_step("New contact", "The round button with the plus makes a new contact."),
            type_step(
                name,
                "The name field has the focus. I type the name.",
                Mistake(Touch("Phone"), "I tap the phone field."),
            ),
            tap_step("Phone", "Next comes the phone number. I tap its field."),
            type_step(
                phone,
                "I type the number as it was given.",
                Mistake(TypeText(text=phone[:-1]), "I type the phone number.", 0.4),
            ),
            tap_step(
                "Save",
                "Name and number are right. I save.",
                Mistake(Finish(), "Both fields are filled in, so the task is done.", 0.2),
            ),
            finish_step(f"{name} is saved with the right number."),
        ),
    )


def change_number(world: World, pick: Random) -> PhoneTask:
    person, phone = pick.choice(world["contacts"]["people"]), phone_number(pick)
    name = person["name"]
    people = [one | {"phone": phone} if one is person else one for one in world["contacts"]["people"]]
    return PhoneTask(
        instruction=f"{name} has a new phone number: {phone}. Change it in the contacts.",
        world=world,
        checks=(contacts_equal(people), unchanged("messages", *OTHER_APPS)),
        expert_steps=(
            *find_contact(name),
            tap_step(
                "Edit contact",
                "The pencil edits the contact.",
                Mistake(Touch("Favourite"), "I tap the sign at the top to change the entry."),
            ),
            tap_step(
                "Clear: Phone",
                "The old number has to go first. The cross clears the field.",
                Mistake(Touch("Phone"), "I tap the phone field to type the new number.", 0.4),
            ),
            type_step(phone, "The field is empty and has the focus. I type the new number."),
            tap_step("Save", "The new number is in the field. I save."),
            finish_step(f"{name}'s page shows the new number."),
        ),
    )


def delete_contact(world: World, pick: Random) -> PhoneTask:
    person = pick.choice(world["contacts"]["people"])
    people = [one for one in world["contacts"]["people"] if one is not person]
    name = person["name"]
    return PhoneTask(
        instruction=f"Delete the contact {name}. Leave all the others.",
        world=world,
        checks=(contacts_equal(people), unchanged("messages", *OTHER_APPS)),
        expert_steps=(
            open_app_step("Contacts", "I open Contacts."),
            tap_step("Search contacts", "I search instead of scrolling."),
            type_step(name.split()[0], f"I search for {name.split()[0]}."),
            ExpertStep(
                Touch(name, "hold"),
                "Pressing an entry long brings up the question whether to delete it.",
                Mistake(Touch(name), "I tap the entry."),
            ),
            tap_step(
                "Delete",
                f"The dialog names {name}. I confirm.",
                Mistake(Touch("Cancel"), "A dialog is in the way. I close it.", 0.2),
            ),
            finish_step(f"{name} is no longer in the list."),
        ),
    )


def reply(world: World, pick: Random) -> PhoneTask:
    thread = pick.choice([one for one in world["messages"]["threads"] if one["messages"][-1]["from"] == "them"])
    person = next(one for one in world["contacts"]["people"] if one["id"] == thread["person"])
    text, name = pick.choice(REPLIES), person["name"]
    return PhoneTask(
        instruction=f"Reply to {name}'s last message with exactly this text: {text}",
        world=world,
        checks=(*message_sent(person, text), unchanged("contacts", *OTHER_APPS)),
        expert_steps=(
            tap_step(
                "Messages",
                "The reply is written in Messages.",
                Mistake(Touch("Contacts"), "I look for the person in Contacts."),
            ),
            tap_step(name, f"I open the conversation with {name}."),
            tap_step("Message", "I put the cursor into the message field."),
            type_step(
                text,
                "I write the reply word for word.",
                Mistake(TypeText(text="OK"), "I write a short reply that says the same.", 0.35),
            ),
            tap_step("Send", "The text is in the field. The arrow sends it."),
            finish_step("The reply stands below the last message."),
        ),
    )


def delete_conversation(world: World, pick: Random) -> PhoneTask:
    thread = pick.choice(world["messages"]["threads"])
    person = next(one for one in world["contacts"]["people"] if one["id"] == thread["person"])
    name = person["name"]
    kept = sorted(one["person"] for one in world["messages"]["threads"] if one is not thread)
    return PhoneTask(
        instruction=f"Delete the whole conversation with {name} from the messages. Keep the contact.",
        world=world,
        checks=(
            state_equals(
                "the conversations", lambda now: sorted(one["person"] for one in now["messages"]["threads"]), kept
            ),
            unchanged("contacts", *OTHER_APPS),
        ),
        expert_steps=(
            tap_step("Messages", "Conversations are in Messages."),
            ExpertStep(
                Touch(name, "swipe"),
                "Moving a conversation aside asks whether to delete it.",
                Mistake(Touch(name), "I open the conversation to look for a way to delete it.", 0.4),
            ),
            tap_step("Delete", f"The dialog names {name}. I confirm."),
            finish_step(f"The conversation with {name} is gone."),
        ),
    )


def text_new_person(world: World, pick: Random) -> PhoneTask:
    known = {thread["person"] for thread in world["messages"]["threads"]}
    person = pick.choice([one for one in world["contacts"]["people"] if one["id"] not in known])
    text = pick.choice(GREETINGS)
    return PhoneTask(
        instruction=f"Send {person['name']} this message: {text}",
        world=world,
        checks=(*message_sent(person, text), unchanged("contacts", *OTHER_APPS)),
        expert_steps=(
            *find_contact(person["name"]),
            *write_to(person["name"], text, Mistake(TypeText(text=f"{text}.."), "I write the message.", 0.25)),
            finish_step("The message is in the conversation."),
        ),
    )


def number_to_note(world: World, pick: Random) -> PhoneTask:
    person = pick.choice(world["contacts"]["people"])
    name, phone = person["name"], person["phone"]
    notes = [{"title": "Call back", "body": phone}, *_written(world)]
    return PhoneTask(
        instruction=f"Look up {name}'s phone number in the contacts and save it in a new note with the title "
        "Call back. The note should hold nothing but the number.",
        world=world,
        checks=(
            state_equals("the notes", _written, notes),
            unchanged("contacts", "messages", "settings", "shop", "clock"),
        ),
        expert_steps=(
            *find_contact(name),
            home_step(f"The number is {phone}. I go home to open Notes."),
            tap_step("Notes", "I open Notes."),
            tap_step("New note", "The plus makes a new note."),
            type_step("Call back", "The title has the focus. I type it."),
            tap_step("Note", "Now the text. I tap below the title."),
            type_step(
                phone,
                "I type the number I read.",
                Mistake(TypeText(text=f"{phone[:-2]}{phone[:-3:-1]}"), "I type the number I remember.", 0.45),
            ),
            tap_step("Save", "Title and number are right. I save."),
            finish_step("The note is saved."),
        ),
    )


def _written(world: World) -> list[dict[str, str]]:
    return [{"title": note["title"], "body": note["body"]} for note in world["notes"]["notes"]]


def answer_number(world: World, pick: Random) -> PhoneTask:
    person = pick.choice(world["contacts"]["people"])
    return PhoneTask(
        instruction=f"What is {person['name']}'s phone number? Give it as the answer.",
        world=world,
        checks=(answer_contains(person["phone"]), unchanged("contacts", "messages", *OTHER_APPS)),
        expert_steps=(
            *find_contact(person["name"]),
            finish_step(
                f"The page shows {person['phone']}.",
                answer=person["phone"],
                mistake=Mistake(Finish(answer=person["phone"][:-1]), "I can read the number.", 0.4),
            ),
        ),
    )
