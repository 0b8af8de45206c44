"""What can be wrong with a game: a stable code, and words that a model or a person can mend it by."""

from dataclasses import dataclass

CODES = {
    "reply_unreadable": "the reply has no files that can be read",
    "files": "a file is missing, not expected, or too long",
    "manifest": "manifest.json does not keep its schema",
    "format": "the folder does not keep the format of browser tasks",
    "syntax": "a script cannot be read",
    "network": "a script reaches for the network",
    "external_resource": "a script loads something from elsewhere",
    "dynamic_code": "a script makes code out of text",
    "clock": "something depends on time",
    "unseeded_random": "something is random without the seed",
    "storage": "something is kept between episodes",
    "outside_access": "the rules reach for something outside of them",
    "tampering": "a script changes what others rely on",
    "rules_throw": "the rules throw an error",
    "interface": "the rules do not keep their interface",
    "impure_step": "step changes the state it is given",
    "hidden_state": "something that decides the game is not in its state",
    "not_repeatable": "the same moves give other states",
    "no_end": "a game may go on for ever",
    "legal_move_without_effect": "a legal move changes nothing",
    "illegal_move_accepted": "an illegal move changes the state",
    "move_after_end": "the game goes on after its end",
    "auto_restart": "the game begins again by itself",
    "same_start": "all seeds have the same start",
    "unreachable_goal": "the expert does not reach the goal",
    "level_not_harder": "a higher level is not harder",
    "verifier_disagrees": "the verifier says something else than the state",
    "verifier_believes_page": "the verifier believes a forged state",
    "verifier_slow": "the verifier takes too long",
    "page_fails": "the page does not load or throws",
    "page_disagrees": "the page goes another way than the rules",
    "record_source": "a record is of another source",
    "record_verifier": "a record is of another verifier",
    "record_chain": "the rows of a record do not follow each other",
    "record_action": "a move of a record is not legal, or no act made it",
    "record_state": "a state of a record does not follow from its moves",
    "record_score": "a score of a record does not follow from its moves",
    "record_end": "a record goes on after its end",
    "origin": "the files are not those that origin.json tells of",
}
"""Every code with what it means."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong. Raises KeyError for a code that does not exist."""

    code: str
    text: str

    def __post_init__(self) -> None:
        CODES[self.code]

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"
