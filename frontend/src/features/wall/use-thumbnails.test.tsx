/** Streams of thumbnails: an ended one is reopened alone, and pictures of sessions that left the page are dropped. */
import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { useThumbnails } from "./use-thumbnails";

const HOSTS = ["http://here/thumbnails", "http://there/thumbnails"];
let opened: string[];
let bodies: Map<string, ReadableStreamDefaultController<Uint8Array>>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  opened = [];
  bodies = new Map();
  let calls = 0;
  URL.createObjectURL = () => "blob:1";
  URL.revokeObjectURL = () => undefined;
  vi.stubGlobal("fetch", (url: string, { body }: { body: string }) => {
    if (url.endsWith("/wall/tickets")) {
      calls += 1;
      return Promise.resolve(Response.json(HOSTS.map((host) => ({ url: host, tickets: [`${new URL(host).host} ${calls}`] }))));
    }
    opened.push(...(JSON.parse(body) as { tickets: string[] }).tickets);
    return Promise.resolve(new Response(new ReadableStream<Uint8Array>({ start: (controller) => void bodies.set(url, controller) })));
  });
  return () => vi.useRealTimers();
});

const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds));

describe("thumbnails of sessions in view", () => {
  it("reopens the response of one bridge host while the other stays open", async () => {
    renderHook(() => useThumbnails(["a"], ["a"], true));
    await pass(300);
    await vi.waitFor(() => expect(opened).toEqual(["here 1", "there 1"]));
    bodies.get("http://there/thumbnails")?.close();
    await vi.waitFor(async () => {
      await pass(1_000);
      expect(opened).toEqual(["here 1", "there 1", "there 2"]);
    });
  });

  it("drops the picture of a session that left the page", async () => {
    const { result, rerender } = renderHook(({ listed }) => useThumbnails(listed, ["a"], true), { initialProps: { listed: ["a", "b"] } });
    await pass(300);
    await vi.waitFor(() => expect(opened).toHaveLength(2));
    bodies.get("http://here/thumbnails")?.enqueue(new TextEncoder().encode("--frame\r\nContent-Length: 1\r\nX-Episode: b\r\n\r\n1\r\n"));
    await vi.waitFor(() => expect(result.current.url("b")).toBe("blob:1"));
    rerender({ listed: ["a"] });
    expect(result.current.url("b")).toBeNull();
  });
});
