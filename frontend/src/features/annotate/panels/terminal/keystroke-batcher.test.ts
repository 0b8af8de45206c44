/** Keys become acts burst by burst, one act at a time, and none is lost. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Bursts, PAUSE } from "./keystroke-batcher";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function typing() {
  const sent: string[] = [];
  const taken = { value: true };
  const bursts = new Bursts((text) => {
    if (taken.value) sent.push(text);
    return taken.value;
  });
  return { bursts, sent, taken };
}

describe("bursts", () => {
  it("end with a pause", () => {
    const { bursts, sent } = typing();
    for (const key of "ls\r") {
      bursts.push(key);
      vi.advanceTimersByTime(PAUSE / 2);
    }
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(PAUSE);
    expect(sent).toEqual(["ls\r"]);
  });

  it("wait for the act before them", () => {
    const { bursts, sent } = typing();
    bursts.push("a");
    vi.advanceTimersByTime(PAUSE);
    bursts.push("b");
    bursts.push("c");
    vi.advanceTimersByTime(10 * PAUSE);
    expect(sent).toEqual(["a"]);
    bursts.setBusy(false);
    vi.advanceTimersByTime(PAUSE);
    expect(sent).toEqual(["a", "bc"]);
  });

  it("stay where they were not taken", () => {
    const { bursts, sent, taken } = typing();
    taken.value = false;
    bursts.push("a");
    vi.advanceTimersByTime(PAUSE);
    taken.value = true;
    bursts.push("b");
    vi.advanceTimersByTime(PAUSE);
    expect(sent).toEqual(["ab"]);
  });

  it("are bounded", () => {
    const { bursts, sent } = typing();
    bursts.push("x".repeat(5_000));
    vi.advanceTimersByTime(PAUSE);
    bursts.setBusy(false);
    vi.advanceTimersByTime(PAUSE);
    expect(sent.map((text) => text.length)).toEqual([4_000, 1_000]);
  });
});
