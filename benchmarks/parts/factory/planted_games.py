"""Replies with planted defects: a good game that was spoiled in one way, and the code that has to name it."""

from collections.abc import Iterator
from dataclasses import dataclass

from task_factory.games.making import TRANSCRIPTS
from task_factory.games.replies import read_reply, write_files
from task_factory.language_models import read_transcript
from vm_bridge.suites.web import HOME

GAME = "pancakes"
RULES, PAGE, VERIFIER, EXPERT, MANIFEST = "page/rules.js", "page/game.js", "verifier.js", "expert.js", "manifest.json"
STEP = "    if (!rules.actions(state).includes(action)) return state;\n"
TICK = "(function tick() { requestAnimationFrame(tick); %s })();\n"


@dataclass(frozen=True, slots=True)
class Defect:
    """What is planted where, and the code of the fault that must be found."""

    name: str
    code: str
    file: str
    old: str
    new: str


DEFECTS = (
    # Said without running anything
    Defect("network", "network", PAGE, "madeGame.define", 'fetch("/score");\nmadeGame.define'),
    Defect("a socket", "network", PAGE, "madeGame.define", 'new WebSocket("/live");\nmadeGame.define'),
    Defect(
        "a script from elsewhere", "external_resource", PAGE, "madeGame.define",
        'document.head.append(Object.assign(document.createElement("script"), { src: "https://cdn.test/a.js" }));\nmadeGame.define',
    ),
    Defect("eval", "dynamic_code", RULES, "let needed = 0;", 'let needed = eval("0");'),
    Defect("a clock", "clock", RULES, "left: needed + spare", "left: needed + spare + (Date.now() % 2)"),
    Defect("randomness without seed", "unseeded_random", RULES, "left: needed + spare", "left: needed + Math.floor(Math.random() * 3)"),
    Defect("storage", "storage", PAGE, "madeGame.define", 'localStorage.setItem("best", "1");\nmadeGame.define'),
    Defect("a changed prototype", "tampering", RULES, "const flipped", "Array.prototype.last = 1;\nconst flipped"),
    Defect("two levels", "manifest", MANIFEST, ',\n    {"max_steps": 32, "slots": {"count": 8, "spare": 2}}', ""),
    Defect("no JSON", "manifest", MANIFEST, '"format": 1,', '"format": 1'),
    Defect("a script that cannot be read", "syntax", VERIFIER, "return judged(", "return judged(("),
    Defect("a file too many", "files", MANIFEST, "{\n", "{\n"),
    Defect("no files", "reply_unreadable", MANIFEST, "{\n", "{\n"),
    # Seen in random play
    Defect("randomness by another name", "unseeded_random", RULES, "let needed = 0;", "const { random: dice } = Math;\n    let needed = dice() > 2 ? 1 : 0;"),
    Defect("rules that read the page", "outside_access", RULES, "let needed = 0;", "let needed = document.title.length * 0;"),
    Defect("hidden state", "hidden_state", RULES, STEP, f"{STEP}    if (++turns % 5 === 0) return {{ ...state, left: state.left - 1, terminal: {{ isTerminal: state.left === 1, outcome: state.left === 1 ? 'lost' : null }} }};\n"),
    Defect("memory between games", "hidden_state", RULES, "left: needed + spare", "left: needed + spare + (++turns % 7 ? 0 : 1)"),
    Defect("no end", "no_end", RULES, "left = state.left - 1, score", "left = state.left + 1, score"),
    Defect("an unreachable goal", "unreachable_goal", RULES, "const won = score === stack.length", "const won = score > stack.length"),
    Defect("illegal moves accepted", "illegal_move_accepted", RULES, STEP, ""),
    Defect("a move without effect", "legal_move_without_effect", RULES, STEP, f'{STEP}    if (action === "flip 3") return state;\n'),
    Defect("a state changed in place", "impure_step", RULES, STEP, f"{STEP}    state.left += 0.25;\n"),
    Defect("levels of one kind", "level_not_harder", MANIFEST, '"count": 8', '"count": 6'),
    Defect("one start for all seeds", "same_start", RULES, "let stack = draw.shuffle(sizes);\n    while (settled(stack) > 0) stack = draw.shuffle(sizes);", "const stack = [...sizes.slice(1), 1].reverse().map((one, i, all) => all[all.length - 1 - i]);"),
    Defect("a restart in the rules", "auto_restart", RULES, STEP, f"    if (state.terminal.isTerminal) return {{ ...state, left: 5, terminal: {{ isTerminal: false, outcome: null }} }};\n{STEP}"),
    Defect("a verifier that believes the page", "verifier_believes_page", VERIFIER, "return judged(state, task, ({ terminal, score, stack }) => ({", "return ((judge) => judge(state.game || { terminal: {}, stack: [1], score: 0 }))(({ terminal, score, stack }) => ({"),
    Defect("a verifier that is too kind", "verifier_disagrees", VERIFIER, 'success: terminal.outcome === "won"', "success: terminal.isTerminal"),
    Defect("a slow verifier", "verifier_slow", VERIFIER, "score: score / stack.length", "score: Array.from({ length: 60000 }, (_, i) => i % 7).sort()[0] * 0 + score / stack.length"),
    # Seen on the page
    Defect("a page of other moves", "page_disagrees", PAGE, "boxOf(state, at, width, height)]))", "boxOf(state, 0, width, height)]))"),
    Defect("a page that throws", "page_fails", PAGE, "    const { theme } = pilothouse;\n", "    const { theme } = pilothouse.nothing;\n"),
    Defect("a clock on the page", "clock", PAGE, "madeGame.define", TICK % "if (pilothouse.state) pilothouse.state().game.left -= 0.01;" + "madeGame.define"),
    Defect("a restart on the page", "auto_restart", PAGE, "madeGame.define", TICK % "if (pilothouse.state && pilothouse.state().game.terminal.isTerminal) pilothouse.setup(TASK);" + "madeGame.define"),
    Defect("network by another name", "network", PAGE, "madeGame.define", 'Reflect.get(document.defaultView, "fet" + "ch")("/score");\nmadeGame.define'),
    Defect("a picture from elsewhere", "network", PAGE, "madeGame.define", 'document.body.style.background = "url(/far.png)";\nmadeGame.define'),
)  # fmt: skip


def make_replies() -> Iterator[tuple[Defect, str]]:
    """Each defect with the reply that has it."""
    transcript = HOME / "made_games" / TRANSCRIPTS / f"{GAME}.jsonl"
    good = read_reply(read_transcript(transcript)[-1].reply)
    for defect in DEFECTS:
        files = dict(good)
        if defect.old not in files[defect.file]:
            raise LookupError(f"{defect.name}: {GAME} has no {defect.old!r}")
        files[defect.file] = files[defect.file].replace(defect.old, defect.new, 1)
        if "turns" in defect.new:
            files[RULES] = files[RULES].replace("const flipped", "let turns = 0;\nconst flipped", 1)
        if defect.code == "files":
            files["page/extra.js"] = "\n"
        reply = write_files(files, "A game.")
        yield defect, reply.replace("```", "") if defect.code == "reply_unreadable" else reply
