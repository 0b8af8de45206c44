"""Phone tasks about people: contacts, messages, and what is carried from one to the other."""

from random import Random
from typing import Any

from vm_bridge.suites.phone.errand import (
    Check,
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
from vm_bridge.suites.phone.world import World, phone_number
from vocabulary.actions import Finish, TypeText

NEW_PEOPLE = ("Karin Lind", "Pavel Dvorak", "Zoe Baker", "Amir Rahimi", "Noor Jansen")
REPLIES = (
    "Thanks, I will be there at six.",
    "Sorry, I cannot make it today.",
    "好的，明天见！",
    "Sounds good, see you soon.",
)
GREETINGS = ("I am running ten minutes late.", "The keys are under the blue pot.", "我已经到家了。")
EVERYTHING_ELSE = ("settings", "shop", "clock", "notes")


def person_named(world: World, name: str) -> dict[str, Any] | None:
    """The contact of this name, if there is one."""
    return next((person for person in world["contacts"]["people"] if person["name"] == name), None)


def last_text(world: World, person: str) -> dict[str, str] | None:
    """Who wrote the last message of the conversation with this contact, and what; None without a conversation."""
    threads = [thread for thread in world["messages"]["threads"] if thread["person"] == person]
    if not threads or not threads[0]["messages"]:
        return None
    message = threads[0]["messages"][-1]
    return {"from": message["from"], "text": message["text"]}


def one_message_more(person: str) -> Check:
    """Exactly one message was written, and to this contact: nobody was bothered twice or by mistake."""

    def counts(world: World) -> dict[str, int]:
        return {thread["person"]: len(thread["messages"]) for thread in world["messages"]["threads"]}

    def check(start: World, now: World, answer: str) -> str:
        expected = counts(start)
        expected[person] = expected.get(person, 0) + 1
        return "" if counts(now) == expected else "exactly one message should have been sent, to the right person"

    return check


def people_wanted(people: list[dict[str, Any]]) -> Check:
    """The contacts are these and no others, whatever their order."""

    def names(world: World) -> list[tuple[str, str]]:
        return sorted((person["name"], person["phone"]) for person in world["contacts"]["people"])

    return holds("the contacts", names, sorted((person["name"], person["phone"]) for person in people))


def messaged(person: dict[str, Any], text: str) -> tuple[Check, ...]:
    """This text, and only this, was sent to this contact."""
    return (
        holds(
            f"the last message with {person['name']}",
            lambda now: last_text(now, person["id"]),
            {"from": "me", "text": text},
        ),
        one_message_more(person["id"]),
    )


def find_contact(name: str) -> tuple[Move, ...]:
    """From anywhere to a person's page in Contacts."""
    return (
        started("Contacts", "I need the address book, so I open Contacts."),
        tap("Search contacts", "The list is long. I put the cursor into the search field."),
        typed(name.split()[0], f"I search for {name.split()[0]}."),
        tap(name, f"{name} is found. I open the entry."),
    )


def write_to(name: str, text: str, wrong: Wrong | None = None) -> tuple[Move, ...]:
    """From a person's page in Contacts to a message sent to them."""
    return (
        tap("Send message", f"This is {name}'s page. Send message opens the conversation."),
        tap("Message", "I put the cursor into the message field."),
        typed(text, "I write the message.", wrong),
        tap("Send", "The text is in the field. The arrow sends it."),
    )


def add_contact(world: World, pick: Random) -> Errand:
    name, phone = pick.choice(NEW_PEOPLE), phone_number(pick)
    people = [*world["contacts"]["people"], {"name": name, "phone": phone}]
    return Errand(
        instruction=f"Add a contact named {name} with the phone number {phone}.",
        world=world,
        checks=(people_wanted(people), untouched("messages", *EVERYTHING_ELSE)),
        moves=(
            tap("Contacts", "A new contact is made in the app Contacts."),
            tap("New contact", "The round button with the plus makes a new contact."),
            typed(
                name, "The name field has the focus. I type the name.", Wrong(Touch("Phone"), "I tap the phone field.")
            ),
            tap("Phone", "Next comes the phone number. I tap its field."),
            typed(
                phone,
                "I type the number as it was given.",
                Wrong(TypeText(text=phone[:-1]), "I type the phone number.", 0.4),
            ),
            tap(
                "Save",
                "Name and number are right. I save.",
                Wrong(Finish(), "Both fields are filled in, so the task is done.", 0.2),
            ),
            done(f"{name} is saved with the right number."),
        ),
    )


def change_number(world: World, pick: Random) -> Errand:
    person, phone = pick.choice(world["contacts"]["people"]), phone_number(pick)
    name = person["name"]
    people = [one | {"phone": phone} if one is person else one for one in world["contacts"]["people"]]
    return Errand(
        instruction=f"{name} has a new phone number: {phone}. Change it in the contacts.",
        world=world,
        checks=(people_wanted(people), untouched("messages", *EVERYTHING_ELSE)),
        moves=(
            *find_contact(name),
            tap(
                "Edit contact",
                "The pencil edits the contact.",
                Wrong(Touch("Favourite"), "I tap the sign at the top to change the entry."),
            ),
            tap(
                "Clear: Phone",
                "The old number has to go first. The cross clears the field.",
                Wrong(Touch("Phone"), "I tap the phone field to type the new number.", 0.4),
            ),
            typed(phone, "The field is empty and has the focus. I type the new number."),
            tap("Save", "The new number is in the field. I save."),
            done(f"{name}'s page shows the new number."),
        ),
    )


def delete_contact(world: World, pick: Random) -> Errand:
    person = pick.choice(world["contacts"]["people"])
    people = [one for one in world["contacts"]["people"] if one is not person]
    name = person["name"]
    return Errand(
        instruction=f"Delete the contact {name}. Leave all the others.",
        world=world,
        checks=(people_wanted(people), untouched("messages", *EVERYTHING_ELSE)),
        moves=(
            started("Contacts", "I open Contacts."),
            tap("Search contacts", "I search instead of scrolling."),
            typed(name.split()[0], f"I search for {name.split()[0]}."),
            Move(
                Touch(name, "hold"),
                "Pressing an entry long brings up the question whether to delete it.",
                Wrong(Touch(name), "I tap the entry."),
            ),
            tap(
                "Delete",
                f"The dialog names {name}. I confirm.",
                Wrong(Touch("Cancel"), "A dialog is in the way. I close it.", 0.2),
            ),
            done(f"{name} is no longer in the list."),
        ),
    )


def reply(world: World, pick: Random) -> Errand:
    thread = pick.choice([one for one in world["messages"]["threads"] if one["messages"][-1]["from"] == "them"])
    person = next(one for one in world["contacts"]["people"] if one["id"] == thread["person"])
    text, name = pick.choice(REPLIES), person["name"]
    return Errand(
        instruction=f"Reply to {name}'s last message with exactly this text: {text}",
        world=world,
        checks=(*messaged(person, text), untouched("contacts", *EVERYTHING_ELSE)),
        moves=(
            tap(
                "Messages",
                "The reply is written in Messages.",
                Wrong(Touch("Contacts"), "I look for the person in Contacts."),
            ),
            tap(name, f"I open the conversation with {name}."),
            tap("Message", "I put the cursor into the message field."),
            typed(
                text,
                "I write the reply word for word.",
                Wrong(TypeText(text="OK"), "I write a short reply that says the same.", 0.35),
            ),
            tap("Send", "The text is in the field. The arrow sends it."),
            done("The reply stands below the last message."),
        ),
    )


def delete_conversation(world: World, pick: Random) -> Errand:
    thread = pick.choice(world["messages"]["threads"])
    person = next(one for one in world["contacts"]["people"] if one["id"] == thread["person"])
    name = person["name"]
    kept = sorted(one["person"] for one in world["messages"]["threads"] if one is not thread)
    return Errand(
        instruction=f"Delete the whole conversation with {name} from the messages. Keep the contact.",
        world=world,
        checks=(
            holds("the conversations", lambda now: sorted(one["person"] for one in now["messages"]["threads"]), kept),
            untouched("contacts", *EVERYTHING_ELSE),
        ),
        moves=(
            tap("Messages", "Conversations are in Messages."),
            Move(
                Touch(name, "swipe"),
                "Moving a conversation aside asks whether to delete it.",
                Wrong(Touch(name), "I open the conversation to look for a way to delete it.", 0.4),
            ),
            tap("Delete", f"The dialog names {name}. I confirm."),
            done(f"The conversation with {name} is gone."),
        ),
    )


def text_new_person(world: World, pick: Random) -> Errand:
    known = {thread["person"] for thread in world["messages"]["threads"]}
    person = pick.choice([one for one in world["contacts"]["people"] if one["id"] not in known])
    text = pick.choice(GREETINGS)
    return Errand(
        instruction=f"Send {person['name']} this message: {text}",
        world=world,
        checks=(*messaged(person, text), untouched("contacts", *EVERYTHING_ELSE)),
        moves=(
            *find_contact(person["name"]),
            *write_to(person["name"], text, Wrong(TypeText(text=f"{text}.."), "I write the message.", 0.25)),
            done("The message is in the conversation."),
        ),
    )


def number_to_note(world: World, pick: Random) -> Errand:
    person = pick.choice(world["contacts"]["people"])
    name, phone = person["name"], person["phone"]
    notes = [{"title": "Call back", "body": phone}, *_written(world)]
    return Errand(
        instruction=f"Look up {name}'s phone number in the contacts and save it in a new note with the title "
        "Call back. The note should hold nothing but the number.",
        world=world,
        checks=(
            holds("the notes", _written, notes),
            untouched("contacts", "messages", "settings", "shop", "clock"),
        ),
        moves=(
            *find_contact(name),
            home(f"The number is {phone}. I go home to open Notes."),
            tap("Notes", "I open Notes."),
            tap("New note", "The plus makes a new note."),
            typed("Call back", "The title has the focus. I type it."),
            tap("Note", "Now the text. I tap below the title."),
            typed(
                phone,
                "I type the number I read.",
                Wrong(TypeText(text=f"{phone[:-2]}{phone[:-3:-1]}"), "I type the number I remember.", 0.45),
            ),
            tap("Save", "Title and number are right. I save."),
            done("The note is saved."),
        ),
    )


def _written(world: World) -> list[dict[str, str]]:
    return [{"title": note["title"], "body": note["body"]} for note in world["notes"]["notes"]]


def answer_number(world: World, pick: Random) -> Errand:
    person = pick.choice(world["contacts"]["people"])
    return Errand(
        instruction=f"What is {person['name']}'s phone number? Give it as the answer.",
        world=world,
        checks=(answered(person["phone"]), untouched("contacts", "messages", *EVERYTHING_ELSE)),
        moves=(
            *find_contact(person["name"]),
            done(
                f"The page shows {person['phone']}.",
                answer=person["phone"],
                wrong=Wrong(Finish(answer=person["phone"][:-1]), "I can read the number.", 0.4),
            ),
        ),
    )
