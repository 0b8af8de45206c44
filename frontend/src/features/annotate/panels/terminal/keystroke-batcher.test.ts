/** Keys become acts burst by burst, one act at a time, and none is lost. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { KeystrokeBatcher, PAUSE } from "./keystroke-batcher";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function typing() {
  const sent: string[] = [];
  const taken = { value: true };
  const batcher = new KeystrokeBatcher((text) => {
    if (taken.value) sent.push(text);
    return taken.value;
  });
  return { batcher, sent, taken };
}

describe("bursts", () => {
  it("end with a pause", () => {
    const { batcher, sent } = typing();
    for (const key of "ls\r") {
      batcher.push(key);
      vi.advanceTimersByTime(PAUSE / 2);
    }
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(PAUSE);
    expect(sent).toEqual(["ls\r"]);
  });

  it("wait for the act before them", () => {
    const { batcher, sent } = typing();
    batcher.push("a");
    vi.advanceTimersByTime(PAUSE);
    batcher.push("b");
    batcher.push("c");
    vi.advanceTimersByTime(10 * PAUSE);
    expect(sent).toEqual(["a"]);
    batcher.setBusy(false);
    vi.advanceTimersByTime(PAUSE);
    expect(sent).toEqual(["a", "bc"]);
  });

  it("stay where they were not taken", () => {
    const { batcher, sent, taken } = typing();
    taken.value = false;
    batcher.push("a");
    vi.advanceTimersByTime(PAUSE);
    taken.value = true;
    batcher.push("b");
    vi.advanceTimersByTime(PAUSE);
    expect(sent).toEqual(["ab"]);
  });

  it("are bounded", () => {
    const { batcher, sent } = typing();
    batcher.push("x".repeat(5_000));
    vi.advanceTimersByTime(PAUSE);
    batcher.setBusy(false);
    vi.advanceTimersByTime(PAUSE);
    expect(sent.map((text) => text.length)).toEqual([4_000, 1_000]);
  });
});
