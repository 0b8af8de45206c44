"""A page that asks for files gets some of those its task has, or that were handed over for it, and gets them again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import MAX_FILE, ChooseFiles, Click, Navigate, UploadFile
from protocol.blobs import BlobRef
from protocol.trajectory.observations import FileChooser, OfferedFile
from protocol.trajectory.tasks import Task
from tests.integration.browser.machine.conftest import Do
from tests.integration.browser.machine.pages import GO, HOST, PagesSuite, page_of
from vm_bridge.browser import FilePayload, Request, Response
from vm_bridge.errors import InvalidAction
from vm_bridge.hosts.browser.host import BrowserHost, BrowserSandbox
from vm_bridge.machine import Machine
from vm_bridge.suites.web_suite import Scene

PAGE = """<!doctype html><title>attach</title>
<input id=field type=file {several} hidden>
<button style="position:absolute;left:10px;top:10px;width:100px;height:60px">attach</button><p id=out></p>
<script>
  const told = [];
  const show = () => { out.textContent = told.join(" ") };
  document.querySelector("button").onclick = () => field.click();
  field.oncancel = () => { told.push("cancelled"); show() };
  field.onchange = async () => {
    for (const file of field.files) told.push(file.name, file.type, await file.text());
    show();
  };
</script>"""
FILES = (FilePayload("a note.txt", "text/plain", b"one"), FilePayload("b.pdf", "application/pdf", b"two"))


class AttachSuite(PagesSuite):
    """One page with a field for files, in the `name` of its task whether for several."""

    def scene(self, task: Task) -> Scene:
        page = PAGE.replace("{several}", "multiple" if task.name == "several" else "")

        class Site:
            async def answer(self, request: Request) -> Response:
                return Response(200, page.encode(), {"content-type": "text/html"})

        return Scene(Site(), f"http://{HOST}/", (640, 400), files=FILES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BrowserHost]:
    host = BrowserHost(tmp_path_factory.mktemp("browsers"), {"pages": AttachSuite()})
    yield host
    await host.close()


def attach(name: str) -> Task:
    return Task(id="attach", instruction="Attach it.", platform="browser", suite="pages", name=name, seed=1)


async def text(sandbox: BrowserSandbox) -> str:
    assert sandbox.session is not None
    return str(await sandbox.session.evaluate("out.textContent"))


@pytest.mark.asyncio(loop_scope="module")
class TestFiles:
    async def test_who_asks_is_told_what_there_is_and_gets_what_is_chosen(
        self, sandbox: BrowserSandbox, machine: Machine, do: Do
    ) -> None:
        assert page_of(await machine.prepare(attach("several"))).chooser is None
        asked = page_of((await do(machine, GO)).after)
        offered = tuple(OfferedFile(name=f.name, media_type=f.media_type, size=len(f.data)) for f in FILES)
        assert asked.chooser == FileChooser(several=True, files=offered)
        done = await do(machine, ChooseFiles(files=("b.pdf", "a note.txt")))
        assert done.error is None
        assert page_of(done.after).chooser is None
        assert await text(sandbox) == "b.pdf application/pdf two a note.txt text/plain one"

    @pytest.mark.parametrize(
        ("files", "code"), [(("c.txt",), "no_such_file"), (("a note.txt", "b.pdf"), "one_file_only")]
    )
    async def test_what_cannot_be_chosen_leaves_the_question_open(
        self, sandbox: BrowserSandbox, machine: Machine, do: Do, files: tuple[str, ...], code: str
    ) -> None:
        await machine.prepare(attach("one"))
        await do(machine, GO)
        done = await do(machine, ChooseFiles(files=files))
        assert done.error is not None
        assert done.error.code == code
        assert page_of(done.after).chooser is not None
        assert await text(sandbox) == ""

    async def test_nobody_is_given_files_unasked(self, machine: Machine, do: Do) -> None:
        await machine.prepare(attach("one"))
        done = await do(machine, ChooseFiles(files=("a note.txt",)))
        assert done.error is not None
        assert done.error.code == "no_chooser"

    async def test_a_question_ends_with_its_page(self, machine: Machine, do: Do) -> None:
        await machine.prepare(attach("one"))
        assert page_of((await do(machine, GO)).after).chooser is not None
        assert page_of((await do(machine, Navigate(url="/elsewhere"))).after).chooser is None

    async def test_none_may_be_chosen(self, sandbox: BrowserSandbox, machine: Machine, do: Do) -> None:
        await machine.prepare(attach("one"))
        await do(machine, GO)
        done = await do(machine, ChooseFiles())
        assert done.error is None
        assert page_of(done.after).chooser is None
        assert await text(sandbox) == "cancelled"

    async def test_what_was_handed_over_may_be_chosen_and_is_there_after_a_way_back(
        self, sandbox: BrowserSandbox, machine: Machine, do: Do
    ) -> None:
        await machine.prepare(attach("one"))
        blob = await machine.stage_upload(b"mine", "application/octet-stream")
        assert (await do(machine, UploadFile(path="mine.csv", blob=blob))).error is None
        asked = page_of((await do(machine, GO)).after).chooser
        assert asked is not None
        assert [file.name for file in asked.files] == ["a note.txt", "b.pdf", "mine.csv"]
        await do(machine, ChooseFiles(files=("mine.csv",)))
        assert await text(sandbox) == "mine.csv text/csv mine"
        chosen = await machine.snapshot()
        before = (await do(machine, Click(x=300, y=300))).after.screenshot
        again = await machine.restore(chosen)
        assert again.screenshot is not None
        assert before is not None
        assert again.screenshot.sha256 == before.sha256
        assert await text(sandbox) == "mine.csv text/csv mine"

    async def test_what_was_not_handed_over_or_has_a_folder_is_refused(self, machine: Machine, do: Do) -> None:
        await machine.prepare(attach("one"))
        strange = BlobRef.of(b"never staged", "text/plain")
        blob = await machine.stage_upload(b"mine", "text/plain")
        for action in UploadFile(path="a.txt", blob=strange), UploadFile(path="../a.txt", blob=blob):
            done = await do(machine, action)
            assert done.error is not None
            assert done.error.code == "cannot_write"

    async def test_an_episode_s_files_are_bounded(self, machine: Machine) -> None:
        await machine.prepare(attach("one"))
        with pytest.raises(InvalidAction):
            await machine.stage_upload(b"x" * (MAX_FILE + 1), "text/plain")
        for number in range(4):
            await machine.stage_upload(bytes([number]) * MAX_FILE, "text/plain")
        with pytest.raises(InvalidAction, match="together"):
            await machine.stage_upload(b"one more", "text/plain")


async def test_what_was_chosen_outlives_the_bridge(tmp_path: Path, do: Do) -> None:
    first = BrowserHost(tmp_path / "host", {"pages": AttachSuite()})
    made = await first.create("browser")
    machine = made.bind(3)
    await machine.prepare(attach("one"))
    blob = await machine.stage_upload(b"mine", "text/plain")
    await do(machine, UploadFile(path="mine.txt", blob=blob))
    await do(machine, GO)
    seen = (await do(machine, ChooseFiles(files=("mine.txt",)))).after
    await first.engines.close()  # killed: nothing of it is put away
    later = BrowserHost(tmp_path / "host", {"pages": AttachSuite()})
    try:
        (adopted,) = await later.adopt([made.id])
        again = await adopted.bind(3).observe()
        assert again.screenshot is not None
        assert seen.screenshot is not None
        assert again.screenshot.sha256 == seen.screenshot.sha256
    finally:
        await later.close()
        await first.close()
