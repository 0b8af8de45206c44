"""What a pool or the platform asks before it takes a recording: terms that are agreed to, and a deletion that was no
accident."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from annotation_app.tasks.models import Pool
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.pairing import find_brief, pool_terms, refresh_pools, reopen
from recorder.pilothouse_recorder.review import cut
from recorder.pilothouse_recorder.sessions import Session, open_session
from recorder.pilothouse_recorder.uploads import is_reopened, upload_session
from tests.integration.web.conftest import World
from tests.integration.web.imports.test_recorder_uploads import (
    address,
    home,
    paired,
    recordings_of,
    recordings_path,
    session,
)

__all__ = ["address", "home", "session"]


async def test_a_deleted_recording_comes_in_again_only_on_purpose(
    address: str, committed: World, session: Session, home: Path
) -> None:
    await Pool.objects.filter(name="real").aupdate(takes_recordings=True)
    own = await paired(address, committed, home)

    async def refusal(call: Any, *words: Any) -> str:
        with pytest.raises(RecorderError) as caught:
            await asyncio.to_thread(call, *words)
        return caught.value.code

    assert await refusal(reopen, own, session) == "not_uploaded"
    await asyncio.to_thread(upload_session, own, session, "real")
    assert await refusal(reopen, own, session) == "not_deleted"
    assert await refusal(cut, session, 0, 1) == "already_uploaded"
    assert await sync_to_async(recordings_path)(committed.ada, committed, "delete") == 200
    assert (await asyncio.to_thread(upload_session, own, session, "real"))["imported"] == 1, "nothing is sent"
    (session.folder / "uploaded.json").rename(session.folder / "kept.json")
    assert await refusal(upload_session, own, session, "real") == "recording_deleted"
    (session.folder / "kept.json").rename(session.folder / "uploaded.json")
    assert (await sync_to_async(recordings_of)(committed))["state"] == "deleted", "it does not come back by itself"
    await asyncio.to_thread(reopen, own, session)
    await asyncio.to_thread(cut, session, 0, 1)
    job = await asyncio.to_thread(upload_session, own, open_session(session.folder), "real")
    assert (job["imported"], job["steps"]) == (1, 1), "an act before the first picture after the cut is left out"
    assert not is_reopened(session)
    found = await sync_to_async(recordings_of)(committed)
    assert (found["state"], found["deleted_at"], found["steps"]) == ("waiting", None, 1)


async def test_a_pools_own_terms_are_agreed_to_before_a_recording(
    address: str, committed: World, session: Session, home: Path
) -> None:
    await Pool.objects.filter(name="real").aupdate(takes_recordings=True, consent="Be kind.", consent_version=2)
    own = await paired(address, committed, home)
    (pool,) = await asyncio.to_thread(refresh_pools, home)
    assert pool["terms"] == {"version": 2, "text": "Be kind.", "agreed": False}
    with pytest.raises(RecorderError, match="consent --pool") as caught:
        find_brief(home, "", "two")
    assert caught.value.code == "pool_consent_needed"
    with pytest.raises(RecorderError) as caught:
        await asyncio.to_thread(upload_session, own, session, "real")
    assert caught.value.code == "consent_needed"
    page = await sync_to_async(lambda: committed.client(committed.ada).get("/api/recorder").json())()
    assert [(one["name"], one["text"]) for one in page["terms"]] == [("real", "Be kind.")]
    agreed = await asyncio.to_thread(pool_terms, home, "real", accept=True)
    assert (agreed["pool"], agreed["agreed"]) == ("real", True)
    assert find_brief(home, "", "two").instruction == "Type two"
    assert (await asyncio.to_thread(upload_session, own, session, "real"))["imported"] == 1
    await Pool.objects.filter(name="real").aupdate(consent_version=3)
    (pool,) = await asyncio.to_thread(refresh_pools, home)
    assert pool["terms"]["agreed"] is False, "new terms are agreed to again"
