"""A judge without a model, for demos and tests. If the record has reference answers, the answer must equal one exactly.
Otherwise the attempt passes if its last action is a finish. The judge ignores the pictures."""

import math
import re

JUDGE_MODEL = "scripted-judge"
"""Model name of the judge."""
YES_PROBABILITY, NO_PROBABILITY = 0.9, 0.1

_FENCE = re.compile(r"^(=== [0-9a-f]{24} ===)\n(?P<record>.*)\n\1$", re.MULTILINE | re.DOTALL)


def judge_prompt(prompt: str) -> tuple[float, str]:
    """The judge's probability that the task was done, and its reply."""
    found = _FENCE.search(prompt)
    if found is None:
        return NO_PROBABILITY, "There is no record.\nVerdict: no"
    record = found["record"]
    references = re.findall(r"^Reference answer: (.*)$", record, re.MULTILINE)
    actions = re.findall(r"^Action: (.*)$", record, re.MULTILINE)
    if references:
        is_yes, why = record.rpartition("The agent's answer: ")[2].strip() in references, "I compared the letters."
    else:
        is_yes, why = bool(actions) and '"kind":"finish"' in actions[-1], "I looked how the record ends."
    return (YES_PROBABILITY, f"{why}\nVerdict: yes") if is_yes else (NO_PROBABILITY, f"{why}\nVerdict: no")


def top_logprobs(token: str, yes: float) -> list[dict[str, object]]:
    """The alternatives at a token: `yes` and `no` at the verdict, elsewhere only the token itself."""
    word = token.strip()
    if word not in ("yes", "no"):
        return [{"token": token, "logprob": 0.0}]
    shares = {"yes": yes, "no": 1 - yes}
    return [{"token": token.replace(word, verdict), "logprob": math.log(share)} for verdict, share in shares.items()]
