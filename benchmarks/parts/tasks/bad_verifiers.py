"""Tests of a folder that misbehave, and what is said of each: none gives a reward."""

from collections.abc import Mapping

BAD_VERIFIERS: Mapping[str, tuple[str, str]] = {
    "hangs": ("sleep 600", "did not end within 1 s"),
    "hangs behind its back": ("(setsid sleep 600 &) ; sleep 600", "did not end within 1 s"),
    "writes nothing": ("echo fine", "wrote no reward: fine"),
    "floods": ("head -c 50000000 /dev/zero | tr '\\0' x; exit 3", "wrote no reward"),
    "fills the disk": ("head -c 500000000 /dev/zero > /logs/verifier/zeros; exit 0", "wrote no reward"),
    "forks": ("for i in $(seq 40); do (sleep 300 &) ; done", "wrote no reward"),
    "writes outside": ("echo 1 > /etc/reward.txt; rm -rf --no-preserve-root /usr/bin/true", "wrote no reward"),
    "writes a word": ("echo many > /logs/verifier/reward.txt", "cannot be read"),
    "writes no number": ("echo nan > /logs/verifier/reward.txt", "no finite number"),
    "writes true": ("echo true > /logs/verifier/reward.json", "no finite number"),
    "writes no reward among others": ('echo \'{"a": 1, "b": 1}\' > /logs/verifier/reward.json', "no finite number"),
    "writes a pipe": ("mkfifo /logs/verifier/reward.txt", "wrote no reward"),
}

"""The script, run with one second to go, and a part of the error."""
