import { afterEach, describe, expect, it, vi } from "vitest";

import type { UploadOut } from "@/generated/api";

import { createUpload, fingerprintOf, isUploadOf, sendUpload, type Progress } from "./upload";
import { speedMeter } from "./use-upload";

const FILE = new File([new Uint8Array(3_000).map((_, at) => at % 251)], "名字.zip", { lastModified: 7 });

/** A server that keeps bytes, and answers the requests named in `faults` (by their number) in another way. */
function serve(faults: Readonly<Record<number, "lost" | "unanswered" | "moved" | 500 | 507>> = {}) {
  let kept = new Uint8Array();
  const offsets: number[] = [];
  let metadata = "";
  let wish = "";
  const answer = (status: number, headers: Record<string, string> = {}, body: unknown = null) =>
    Promise.resolve(new Response(status === 204 ? null : JSON.stringify(body), { status, headers }));
  const handle = (_: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const told = { "Upload-Offset": String(kept.length) };
    if (init.method === "HEAD") return answer(200, told);
    if (init.method === "POST") {
      metadata = headers.get("Upload-Metadata") ?? metadata;
      if (typeof init.body === "string") wish = init.body;
      return answer(202, {}, { id: "u", offset: kept.length });
    }
    offsets.push(Number(headers.get("Upload-Offset")));
    const fault = faults[offsets.length];
    if (fault === "lost") return Promise.reject(new TypeError("no line"));
    if (fault === "moved") return answer(409, {}, { code: "upload_offset", message: "no", extra: { offset: kept.length } });
    if (typeof fault === "number") return answer(fault, {}, { code: fault === 507 ? "disk_full" : "server_error", message: "no" });
    kept = new Uint8Array([...kept, ...new Uint8Array(init.body as ArrayBuffer)]);
    if (fault === "unanswered") return Promise.reject(new TypeError("no line"));
    return answer(204, { "Upload-Offset": String(kept.length) });
  };
  vi.stubGlobal("fetch", vi.fn(handle));
  return { offsets, bytes: () => kept, metadata: () => metadata, wish: () => wish };
}

const announced = (offset = 0) =>
  ({ id: "u", name: FILE.name, size: FILE.size, offset, fingerprint: fingerprintOf(FILE), part_bytes: 1_000, pool: "" }) as UploadOut;

async function sent(upload = announced(), signal = new AbortController().signal) {
  const heard: Progress[] = [];
  const sending = sendUpload(FILE, "Old work", upload, signal, (progress) => heard.push(progress));
  sending.catch(() => undefined);
  await vi.runAllTimersAsync();
  return { heard, result: sending };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("an upload", () => {
  it("catches up with lost parts and lost answers", async () => {
    vi.useFakeTimers();
    const server = serve({ 1: "lost", 2: "unanswered", 3: 500, 4: "moved" });
    const { heard, result } = await sent();
    await result;
    expect(server.bytes()).toEqual(new Uint8Array(await FILE.arrayBuffer()));
    expect(heard.filter(({ trouble }) => trouble).length).toBe(3);
    expect(heard.at(-1)).toEqual({ sent: FILE.size, trouble: null });
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
    const sending = sendUpload(FILE, "", announced(), controller.signal, ({ trouble }) => {
      if (trouble) controller.abort();
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
    const speed = speedMeter();
    expect(speed(0, 0)).toBeNull();
    expect(speed(1_000, 1_000)).toBe(1_000);
    for (let second = 2; second < 20; second += 1) speed(1_000, second * 1_000);
    expect(speed(1_000, 20_000)).toBe(0);
  });
});
