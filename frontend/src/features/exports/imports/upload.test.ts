import { afterEach, describe, expect, it, vi } from "vitest";

import type { UploadOut } from "@/generated/api";

import { createUpload, fingerprintOf, isUploadOf, sendUpload, type Progress } from "./upload";
import { makeSpeedMeter } from "./use-upload";

const FILE = new File([new Uint8Array(3_000).map((_, at) => at % 251)], "名字.zip", { lastModified: 7 });

/** A server that keeps bytes, and answers the requests named in `faults` (by their number) in another way. */
function serve(faults: Readonly<Record<number, "lost" | "unanswered" | "moved" | 500 | 507>> = {}) {
  let received = new Uint8Array();
  const offsets: number[] = [];
  let metadata = "";
  let wish = "";
  const answer = (status: number, headers: Record<string, string> = {}, body: unknown = null) =>
    Promise.resolve(new Response(status === 204 ? null : JSON.stringify(body), { status, headers }));
  const handle = (_: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const messages = { "Upload-Offset": String(received.length) };
    if (init.method === "HEAD") return answer(200, messages);
    if (init.method === "POST") {
      metadata = headers.get("Upload-Metadata") ?? metadata;
      if (typeof init.body === "string") wish = init.body;
      return answer(202, {}, { id: "u", offset: received.length });
    }
    offsets.push(Number(headers.get("Upload-Offset")));
    const fault = faults[offsets.length];
    if (fault === "lost") return Promise.reject(new TypeError("no line"));
    if (fault === "moved") return answer(409, {}, { code: "upload_offset", message: "no", extra: { offset: received.length } });
    if (typeof fault === "number") return answer(fault, {}, { code: fault === 507 ? "disk_full" : "server_error", message: "no" });
    received = new Uint8Array([...received, ...new Uint8Array(init.body as ArrayBuffer)]);
    if (fault === "unanswered") return Promise.reject(new TypeError("no line"));
    return answer(204, { "Upload-Offset": String(received.length) });
  };
  vi.stubGlobal("fetch", vi.fn(handle));
  return { offsets, bytes: () => received, metadata: () => metadata, wish: () => wish };
}

const announced = (offset = 0) =>
  ({ id: "u", name: FILE.name, size: FILE.size, offset, fingerprint: fingerprintOf(FILE), part_bytes: 1_000, pool: "" }) as UploadOut;

async function sent(upload = announced(), signal = new AbortController().signal) {
  const progress: Progress[] = [];
  const sending = sendUpload(FILE, "Old work", upload, signal, (update) => progress.push(update));
  sending.catch(() => undefined);
  await vi.runAllTimersAsync();
  return { progress, result: sending };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("an upload", () => {
  it("catches up with lost parts and lost answers", async () => {
    vi.useFakeTimers();
    const server = serve({ 1: "lost", 2: "unanswered", 3: 500, 4: "moved" });
    const { progress, result } = await sent();
    await result;
    expect(server.bytes()).toEqual(new Uint8Array(await FILE.arrayBuffer()));
    expect(progress.filter(({ problem }) => problem).length).toBe(3);
    expect(progress.at(-1)).toEqual({ sent: FILE.size, problem: null });
    expect(JSON.parse(server.wish())).toEqual({ pool: "Old work" });
  });

  it("stops where trying again does not help, and after enough tries", async () => {
    vi.useFakeTimers();
    serve({ 1: 507 });
    await expect((await sent()).result).rejects.toMatchObject({ code: "disk_full" });
    const server = serve(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [at + 1, "lost" as const])));
    await expect((await sent()).result).rejects.toThrow("network");
    expect(server.offsets.length).toBe(8);
  });

  it("stops at once when it is paused while it waits", async () => {
    vi.useFakeTimers();
    serve({ 1: "lost" });
    const controller = new AbortController();
    const sending = sendUpload(FILE, "", announced(), controller.signal, ({ problem }) => {
      if (problem) controller.abort();
    });
    await expect(sending).rejects.toMatchObject({ name: "AbortError" });
  });

  it("is announced with its name in any script, and known again by more than its name", async () => {
    const server = serve();
    await createUpload(FILE, "");
    expect(server.metadata()).toContain(`filename ${btoa(String.fromCharCode(...new TextEncoder().encode("名字.zip")))}`);
    expect(isUploadOf(announced(), FILE)).toBe(true);
    expect(isUploadOf(announced(), new File([], FILE.name, { lastModified: 7 }))).toBe(false);
    expect(isUploadOf(announced(), new File([FILE], FILE.name, { lastModified: 8 }))).toBe(false);
  });

  it("measures the speed of the last seconds", () => {
    const speed = makeSpeedMeter();
    expect(speed(0, 0)).toBeNull();
    expect(speed(1_000, 1_000)).toBe(1_000);
    for (let second = 2; second < 20; second += 1) speed(1_000, second * 1_000);
    expect(speed(1_000, 20_000)).toBe(0);
  });
});
