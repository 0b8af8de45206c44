"""A suite of small pages, each with one thing that pages do, good or bad."""

from math import inf
from urllib.parse import urlsplit

from protocol.actions.types import Click
from protocol.trajectory.observations import BrowserPage, Observation, Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.browser import Request, Response, Session
from vm_bridge.errors import UnknownTask, VerifierFailed
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.web_suite import Scene, TaskProgress

HOST = "pages.test"
GO = Click(x=60, y=40)
"""Every page has its button there."""
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>
<style>
  body {{ margin: 0; font: 16px sans-serif; background: #fff }}
  button {{ position: absolute; left: 10px; top: 10px; width: 100px; height: 60px }}
  #out {{ position: absolute; left: 10px; top: 90px }}
  input {{ position: absolute; left: 10px; top: 120px; width: 300px }}
</style>
<button id="go">go</button><div id="out"></div>
<script>
  const out = document.getElementById("out");
  const say = (text) => {{ out.textContent = text }};
  const go = (act) => document.getElementById("go").addEventListener("click", act);
</script>
"""
SCRIPTS = {
    "counter": "window.game = {score: 0}; go(() => { game.score += 1; say(game.score + ' ' + Math.random()) })",
    "words": """
      say("Reservation of two seats");
      document.body.insertAdjacentHTML("beforeend", `<input type=password value=hunter22><p hidden>solution</p>
        <p contenteditable style="position: absolute; top: 200px">a <b>draft</b></p>
        <p style="position: absolute; top: 250px; -webkit-text-security: disc">masked</p>`);
      const long = "beneath ".repeat(8000);
      document.body.insertAdjacentHTML("afterbegin", `<p style="position: absolute; top: 2000px">${long}</p>`);
      window.game = {score: 0};
    """,
    "timed": "window.game = {score: 0}; go(() => { game.score += 1; say(game.score) })",
    "misjudged": "window.game = {score: 0}; go(() => say('gone on'))",
    "ends": "window.game = {score: 0}; go(() => { window.game = {score: 1, done: true, success: true}; say('over') })",
    "moving": """
      const box = document.createElement("div");
      box.style.cssText = "position:absolute;top:200px;width:40px;height:40px;background:#36c";
      document.body.append(box);
      window.game = {score: 0};
      let from = 0;
      const step = (at) => {
        from ||= at;
        box.style.left = (at - from) / 10 + "px";
        game.score = at - from;
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
      go(() => say("at " + game.score));
    """,
    "writing": """
      const field = document.body.appendChild(document.createElement("input"));
      field.focus();
      const keys = [];
      field.addEventListener("keydown", (event) => { keys.push(event.key); say(keys.join(",")) });
      window.game = {get score() { return field.value.length }, get text() { return field.value }};
    """,
    "long": """
      document.body.style.height = "5000px";
      addEventListener("scroll", () => { window.game.score = scrollY });
      window.game = {score: 0};
    """,
    "pointing": """
      document.body.style.height = "5000px";
      let seen = 0;
      window.game = {get score() { return seen }};
      const held = (event) => event.ctrlKey * 1 + event.shiftKey * 2;
      addEventListener("mousedown", (event) => { seen = event.detail * 100 + event.button * 10 + held(event) });
      addEventListener("wheel", (event) => { event.preventDefault(); seen = event.deltaY * 10 + held(event) },
        {passive: false});
      addEventListener("keyup", () => { seen += 1000 });
    """,
    "dragging": """
      const box = document.createElement("div");
      box.style.cssText = "position:absolute;left:200px;top:200px;width:60px;height:60px;background:#c63";
      document.body.append(box);
      let held = null;
      window.game = {score: 0};
      box.addEventListener("pointerdown", (event) => {
        held = [event.clientX - box.offsetLeft, event.clientY - box.offsetTop];
      });
      addEventListener("pointermove", (event) => {
        if (!held) return;
        box.style.left = event.clientX - held[0] + "px";
        box.style.top = event.clientY - held[1] + "px";
        game.score += 1;
      });
      addEventListener("pointerup", () => { held = null });
    """,
    "popup": "go(() => { window.open('/counter', '_blank', 'width=300,height=200') })",
    "windows": "go(() => { for (let i = 0; i < 1000; i++) window.open('/counter') })",
    "dialogs": """go(() => {
      for (let i = 0; i < 50; i++) { alert("no"); confirm("no?"); prompt("no!") }
      say("through");
    })""",
    "leaving": "onbeforeunload = (event) => { event.preventDefault(); return '' }; go(() => {})",
    "download": """go(() => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(["x".repeat(1000)]));
      link.download = "bad.exe";
      link.click();
    })""",
    "away": "go(() => { location.href = 'http://elsewhere.test/' })",
    # A few answers are left unread: each of them holds its frame for 0.1 s of real time.
    "never": """let count = 0;
    setInterval(() => {
      const answer = fetch("/counter");
      if (count++ % 50) answer.then((each) => each.text());
      say(performance.now());
    }, 5);
    go(() => {});""",
    "hang": "go(() => { for (;;); })",
    "hog": "go(() => { const all = []; for (;;) all.push(new Array(1e6).fill(Math.random())) })",
    "throws": "window.game = {get score() { throw new Error('broken') }}",
}
LIMIT_MS = 1_000
"""The time of the page `timed`."""
STATE = "window.game ? {score: game.score, done: !!game.done, success: game.success ?? null} : null"


class PagesSite:
    """Every page by its name."""

    async def answer(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        script = SCRIPTS.get(parts.path.strip("/"))
        if parts.hostname != HOST or script is None:
            return Response(404, b"Not found", {"content-type": "text/plain"})
        name = parts.path.strip("/")
        page = HEAD.format(name=name) + f"<script>{script}</script>"
        return Response(200, page.encode(), {"content-type": "text/html; charset=utf-8"})


class PagesSuite:
    """Implements `WebSuite`; a page says in `window.game` how it stands. `moving` takes 100 ms an act, `timed` has an
    end, and what judges `misjudged` is broken."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(map(task, SCRIPTS))

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        return task(name).model_copy(update={"seed": seed})

    def scene(self, task: Task) -> Scene:
        if task.name not in SCRIPTS:
            raise UnknownTask(f"there is no page {task.name}")
        step_ms = 100 if task.name == "moving" else 0
        limit_ms = LIMIT_MS if task.name == "timed" else inf
        url = f"http://{HOST}/{task.name}"
        return Scene(PagesSite(), url, (640, 400), step_ms=step_ms, limit_ms=limit_ms)

    async def set_up(self, task: Task, session: Session) -> None:
        """The page is its own start state."""

    async def progress(self, task: Task, session: Session) -> TaskProgress:
        if task.name == "misjudged":
            raise VerifierFailed("the verifier of misjudged threw TypeError")
        state = await session.evaluate(STATE)
        return TaskProgress() if state is None else TaskProgress(state["score"], None, state["done"], state["success"])

    async def judge(self, task: Task, session: Session, answer: str) -> Verdict:
        if task.name == "misjudged":
            raise VerifierFailed("the verifier of misjudged threw TypeError")
        state = await session.evaluate(STATE)
        return Verdict(success=bool(state and state["success"]), score=float(bool(state and state["success"])))

    async def suggest_expert_action(self, task: Task, session: Session) -> ExpertSuggestion | None:
        return ExpertSuggestion(thought="Press the button.", action=GO)


def task(name: str, **parameters: float | str) -> Task:
    """The task of a page."""
    return Task(
        id=f"pages/{name}",
        instruction="Try it.",
        platform="browser",
        suite="pages",
        name=name,
        seed=5,
        parameters=dict(parameters),
    )


def page_of(seen: Observation) -> BrowserPage:
    """What an observation says of its page."""
    assert seen.page is not None
    return seen.page
