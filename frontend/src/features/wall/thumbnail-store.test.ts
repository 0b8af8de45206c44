/** The newest picture of each episode: shown at once or after an interval, and revoked when replaced. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ThumbnailStore } from "./thumbnail-store";

const picture = (text: string) => new Blob([text]);
let made = 0;
const revoked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  made = 0;
  revoked.length = 0;
  URL.createObjectURL = () => `blob:${(made += 1)}`;
  URL.revokeObjectURL = (url) => void revoked.push(url);
});
afterEach(() => vi.useRealTimers());

describe("the pictures of the wall", () => {
  it("shows the newest, and notifies only its own tile", () => {
    const store = new ThumbnailStore();
    const [mine, others] = [vi.fn(), vi.fn()];
    const leave = store.subscribe("a", mine);
    store.subscribe("b", others);
    store.put("a", picture("1"));
    store.put("a", picture("2"));
    expect(store.url("a")).toBe("blob:2");
    expect(revoked).toEqual(["blob:1"]);
    expect([mine.mock.calls.length, others.mock.calls.length]).toEqual([2, 0]);
    leave();
    store.put("a", null);
    expect(store.url("a")).toBeNull();
    expect(mine).toHaveBeenCalledTimes(2);
    expect(revoked).toEqual(["blob:1", "blob:2"]);
  });

  it("keeps a picture for the interval", () => {
    const store = new ThumbnailStore(10_000);
    store.put("a", picture("1"));
    store.put("a", picture("2"));
    store.put("a", picture("3"));
    expect(store.url("a")).toBe("blob:1");
    vi.advanceTimersByTime(10_000);
    expect(store.url("a")).toBe("blob:2");
    expect(made).toBe(2);
    store.put("a", picture("4"));
    store.clear();
    vi.advanceTimersByTime(60_000);
    expect(store.url("a")).toBeNull();
    expect(revoked).toEqual(["blob:1", "blob:2"]);
  });
});
