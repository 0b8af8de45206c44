"""A model that words instructions anew, served for real: whatever a random one says is taken within bounds, or not."""

from annotation_app.design.rewording import MAX_WORDING_LENGTH, request_wordings
from annotation_app.design.schemas import WriterServer, WritingPlan
from benchmarks.parts.model_servers.launcher import Server

COUNT = 3


async def test_what_a_random_model_says_stays_within_bounds(server: Server) -> None:
    asked = WriterServer(base_url=f"{server.url}/v1", model="tiny", temperature=1.0, max_tokens=32)
    texts = await request_wordings(WritingPlan(server=asked, instruction='Rename it to "final.txt".', count=COUNT))
    assert len(texts) <= COUNT
    assert all("final.txt" in text and len(text) <= MAX_WORDING_LENGTH for text in texts)
