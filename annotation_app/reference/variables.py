"""Environment variables outside the settings classes: those of commands, clients and the recorder."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable; a name that ends with `_` is followed by a name or number."""

    name: str
    read_by: str
    meaning: str
    default: str = ""


VARIABLES = (
    Variable("PILOTHOUSE_URL", "the Python client", "Address of the pages.", "http://127.0.0.1:8000"),
    Variable(
        "PILOTHOUSE_TOKEN",
        "the Python client, the recorder, rollouts of a pool's tasks",
        "Token of the person on whose behalf it works.",
    ),
    Variable("PILOTHOUSE_TOKEN_FILE", "as PILOTHOUSE_TOKEN", "File of mode 600 with that token."),
    Variable("PILOTHOUSE_PASSWORD", "simulate-annotator", "Password of the user; the demo's users need none."),
    Variable("PILOTHOUSE_OPENENV_TOKEN", "openenv and its clients", "Token that clients send."),
    Variable(
        "PILOTHOUSE_OPENENV_URL", "the sandboxes client", "Address of `./pilothouse openenv`.", "http://127.0.0.1:8030"
    ),
    Variable("PILOTHOUSE_SERVE_API_KEY", "the bundled model server", "Key that requests need; empty: none."),
    Variable(
        "PILOTHOUSE_POLICY_API_KEY",
        "rollout, judges, refinement, probe, reload, factory",
        "Key that is sent to the model server; the web app has its own entry above.",
    ),
    Variable("PILOTHOUSE_JUDGE_API_KEY", "rollouts that decide rewards", "Key of the judge's model server."),
    Variable(
        "PILOTHOUSE_JUDGE_API_KEY_",
        "rollouts of a flywheel",
        "The same for each judge, by its number; set by the worker.",
    ),
    Variable("PILOTHOUSE_POOL_SECRET_", "rollouts and OpenEnv", "A secret of the pool, by its name in capitals."),
    Variable("PILOTHOUSE_SPEECH_URL", "the recorder", "Server that turns speech into text."),
    Variable("PILOTHOUSE_SPEECH_KEY", "the recorder", "Key of that server."),
    Variable("PILOTHOUSE_RECORDER_HOME", "the recorder", "Folder of its settings and recordings."),
)

INTERNAL = {
    "PILOTHOUSE_CLOCK": "an X11 atom of the recorder",
    "PILOTHOUSE_COMMANDS": "a table of former commands, no variable",
    "PILOTHOUSE_POD_SECRET": "set by the bridge for the first process of a pod",
    "PILOTHOUSE_POOL_SECRET_NAME": "stands for PILOTHOUSE_POOL_SECRET_ and a name",
    "PILOTHOUSE_RECORDER_WINDOW_PID": "set by the recorder for a process of its own",
    "PILOTHOUSE_SECRETS": "set by docker/keys.py's tests",
}
"""Words that look like variables but are not, each with an explanation."""
