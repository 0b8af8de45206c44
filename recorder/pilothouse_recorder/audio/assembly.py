"""Turns blocks of sound into chunks with monotonic times. Lost samples become explicit gaps. Needs no device."""

from collections import deque
from dataclasses import dataclass
from statistics import median

from ..clocks import MS, SECOND

RATE = 16_000
"""Samples per second: signed 16 bits, little-endian, one channel."""
SAMPLE_BYTES = 2
SAMPLE_NS = SECOND // RATE
BLOCKS_PER_CHUNK = 5
WINDOW_BLOCKS = 50
"""Number of blocks that decide on a time together. A sound card's clock drifts by about a millisecond in that time."""
LATENCY_BLOCKS = 300
JUMP_NS = 50 * MS
"""If `JUMP_BLOCKS` blocks in a row all come later than this, samples before them were lost. Late blocks of a busy
computer catch up.
"""
JUMP_BLOCKS = 3
FLAT_NS = 20 * MS


@dataclass(frozen=True)
class Block:
    """Samples as they were read. The sample after the last one was captured `latency_ns` before `read_ns`."""

    samples: bytes
    read_ns: int
    latency_ns: int


@dataclass(frozen=True)
class Chunk:
    """Samples without a gap. The first was captured at `t_ns`, at most `error_ns` away."""

    samples: bytes
    t_ns: int
    error_ns: int

    @property
    def duration_ns(self) -> int:
        """Duration by the sample rate."""
        return len(self.samples) // SAMPLE_BYTES * SAMPLE_NS


@dataclass(frozen=True)
class Loss:
    """A stretch without sound: samples were lost, or there was no microphone."""

    begin_ns: int
    end_ns: int
    reason: str


class ChunkAssembler:
    """Assigns a time to every chunk.

    A block is never read before it was captured, so the block that arrived soonest after its capture decides. The
    server reports how long that took. The latency of a single block is not used: after a loss it is wrong by the length
    of the loss for seconds.
    """

    def __init__(self) -> None:
        self._offsets: deque[int] = deque(maxlen=WINDOW_BLOCKS)
        self._latencies: deque[int] = deque(maxlen=LATENCY_BLOCKS)
        self._blocks: list[bytes] = []
        self._begin = self._end = 0
        self._late: list[int] = []

    def add(self, block: Block) -> list[Chunk | Loss]:
        """Take the next block. Returns the completed chunks and losses, in order."""
        self._end += len(block.samples) // SAMPLE_BYTES
        self._blocks.append(block.samples)
        offset = block.read_ns - self._end * SAMPLE_NS
        if self._offsets and offset - min(self._offsets) > JUMP_NS:
            self._late.append(offset)
            last = self._late[-JUMP_BLOCKS:]
            lost = len(last) == JUMP_BLOCKS and max(last) - min(last) < FLAT_NS
            catches_up = offset < self._late[-WINDOW_BLOCKS:][0] - FLAT_NS
            return self._restart() if lost or (len(self._late) >= WINDOW_BLOCKS and not catches_up) else []
        self._late.clear()
        self._offsets.append(offset)
        self._latencies.append(block.latency_ns)
        return self.flush() if len(self._blocks) >= BLOCKS_PER_CHUNK else []

    def flush(self) -> list[Chunk | Loss]:
        """Return the samples that do not fill a whole chunk yet."""
        if not self._blocks or not self._offsets:
            return []
        chunk = self._chunk(b"".join(self._blocks))
        self._begin, self._blocks = self._end, []
        return [chunk]

    def _restart(self) -> list[Chunk | Loss]:
        """Start a new sample count at the late blocks; the samples in between are lost."""
        count = len(self._late)
        late, self._blocks = self._blocks[-count:], self._blocks[:-count]
        before = self._chunk(b"".join(self._blocks))
        end_ns = before.t_ns + before.duration_ns
        self._begin = self._end - sum(map(len, late)) // SAMPLE_BYTES
        self._blocks = late
        self._offsets.clear()
        self._offsets.extend(self._late)
        self._late.clear()
        complete: list[Chunk | Loss] = [before] if before.samples else []
        return [*complete, Loss(end_ns, max(end_ns, self._time(self._begin)), "lost")]

    def _chunk(self, samples: bytes) -> Chunk:
        error_ns = int(median(self._latencies)) - min(self._latencies) + MS
        return Chunk(samples, self._time(self._begin), error_ns)

    def _time(self, sample: int) -> int:
        return min(self._offsets) - min(self._latencies) + sample * SAMPLE_NS
