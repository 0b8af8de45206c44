"""Parses a command line up to the caret: its complete words, and the unfinished word."""

from dataclasses import dataclass, replace

SEPARATORS = "|&;()\n`"
PREFIXES = frozenset(
    ("sudo", "env", "time", "nohup", "exec", "command", "if", "then", "else", "elif", "while", "until", "do", "!", "{")
)
"""Words after which another command starts."""
SPECIAL = frozenset(" \t\\'\"`$&|;<>()*?[]{}!#~")
"""Characters that bash treats specially outside quotes."""


@dataclass(frozen=True)
class CommandLine:
    """The command at the end of a line."""

    words: tuple[str, ...]
    """Its complete words without quotes; without assignments and words such as `sudo` before it."""
    start: int
    """Start of the last word in the line."""
    text: str
    """The last word without quotes; empty after a space."""
    quote: str
    """The quote that the caret is in: `'`, `"` or none."""
    after_redirect: bool
    """Whether the last word is the target file of a redirection."""


def read_command_line(line: str) -> CommandLine:
    """The unfinished command at the end of the line. Nothing is expanded."""
    words: list[str] = []
    at = CommandLine((), 0, "", "", after_redirect=False)
    began = escaped = False
    for index, char in enumerate(line):
        if escaped or (at.quote and char != at.quote and not (char == "\\" and at.quote == '"')):
            at, escaped = replace(at, text=at.text + char), False
        elif at.quote and char == at.quote:
            at = replace(at, quote="")
        elif char in " \t" or char in SEPARATORS or char in "<>":
            is_descriptor = char in "<>" and at.text.isdigit()
            if began and not at.after_redirect and not is_descriptor:
                words.append(at.text)
            keeps_redirect = at.after_redirect and not began and char in " \t&"
            if char in SEPARATORS and not keeps_redirect:
                words.clear()
            at = CommandLine((), index + 1, "", "", after_redirect=char in "<>" or keeps_redirect)
            began = False
        else:
            at = at if began else replace(at, start=index)
            began = True
            if char == "\\":
                escaped = True
            elif char in "'\"":
                at = replace(at, quote=char)
            else:
                at = replace(at, text=at.text + char)
    while words and (words[0] in PREFIXES or _is_assignment(words[0])):
        words.pop(0)
    return replace(at, words=tuple(words))


def quote_word(word: str, quote: str = "") -> str | None:
    """Quote a word, inside the open quote if one is given. None if that is impossible."""
    if any(not char.isprintable() for char in word):
        return None
    if quote == "'":
        return None if "'" in word else f"'{word}"
    if quote == '"':
        return '"' + "".join(f"\\{char}" if char in '\\"$`' else char for char in word)
    home, rest = ("~/", word[2:]) if word.startswith("~/") else ("", word)
    return home + "".join(f"\\{char}" if char in SPECIAL else char for char in rest)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
