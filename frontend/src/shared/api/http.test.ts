/** Calls to the web app against a stand-in for the browser's fetch. */
import { afterEach, describe, expect, it, vi } from "vitest";

import { i18nFor } from "@/shared/i18n/i18n";

import { ApiError, messageOf, NetworkError, request, requestWithHeaders, setCsrf, setReauthenticationGate, setSignInGate } from "./http";

const { t } = i18nFor("en");
const refusal = (status: number, code: string) => Response.json({ code, message: "No.", extra: { fields: [] } }, { status });

function answering(...responses: Response[]) {
  const fetch = vi.fn<typeof window.fetch>(() => Promise.resolve(responses.shift() ?? Response.error()));
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

afterEach(() => {
  vi.unstubAllGlobals();
  setSignInGate(null);
  setReauthenticationGate(null);
});

describe("request", () => {
  it("sends JSON and the token with what changes something", async () => {
    const fetch = answering(Response.json({ ok: true }));
    setCsrf("token");
    expect(await request("POST", "/queue/next", { practice: true })).toEqual({ ok: true });
    const [url, init] = fetch.mock.calls[0] ?? [];
    expect(url).toBe("/api/queue/next");
    expect(init).toMatchObject({ method: "POST", body: '{"practice":true}', headers: { "X-CSRFToken": "token" } });
  });

  it("raises the server's code", async () => {
    answering(refusal(409, "command_conflict"));
    await expect(request("GET", "/home")).rejects.toMatchObject({ status: 409, code: "command_conflict", extra: { fields: [] } });
  });

  it("raises a code of its own where the answer is not the API's", async () => {
    answering(new Response("<html>Bad gateway</html>", { status: 502 }));
    await expect(request("GET", "/home")).rejects.toMatchObject({ code: "http_502" });
  });

  it("tells an unreachable server from a refusal", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(request("GET", "/home")).rejects.toBeInstanceOf(NetworkError);
  });

  it("knows an ended sign-in by the status where an answer has no body", async () => {
    answering(new Response(null, { status: 401 }), new Response(null, { headers: { "Upload-Offset": "7" } }));
    setSignInGate(() => Promise.resolve());
    expect((await requestWithHeaders("HEAD", "/x", {})).headers.get("Upload-Offset")).toBe("7");
  });

  it("waits for a new sign-in and makes the call again", async () => {
    const fetch = answering(refusal(401, "not_signed_in"), Response.json({ saved: true }));
    let signIn: () => void = () => undefined;
    const requests = new Promise<void>((resolve) =>
      setSignInGate(() => {
        resolve();
        return new Promise((signedIn) => (signIn = signedIn));
      }),
    );
    const call = request("PATCH", "/me", { preferences: {} });
    await requests;
    expect(fetch).toHaveBeenCalledTimes(1);
    signIn();
    expect(await call).toEqual({ saved: true });
    expect(fetch.mock.calls[1]?.[1]).toMatchObject({ body: '{"preferences":{}}' });
  });

  it("waits for a proof of who asks and makes the call again", async () => {
    answering(refusal(403, "reauthentication_required"), Response.json({ token: "t" }));
    const ask = vi.fn(() => Promise.resolve());
    setReauthenticationGate(ask);
    expect(await request("POST", "/me/factor")).toEqual({ token: "t" });
    expect(ask).toHaveBeenCalledOnce();
  });

  it("is refused where no proof is given", async () => {
    const fetch = answering(refusal(403, "reauthentication_required"));
    setReauthenticationGate(() => Promise.reject(new Error("closed")));
    await expect(request("POST", "/me/factor")).rejects.toMatchObject({ code: "reauthentication_required" });
    expect(fetch).toHaveBeenCalledOnce();
  });

  it("asks once, not for ever", async () => {
    answering(refusal(401, "not_signed_in"), refusal(401, "not_signed_in"));
    setSignInGate(() => Promise.resolve());
    await expect(request("GET", "/home")).rejects.toMatchObject({ code: "not_signed_in" });
  });
});

describe("messageOf", () => {
  it("says it in the reader's language, or in the server's words", () => {
    expect(messageOf(new ApiError(403, "forbidden", "No."), t).text).toBe("You may not see this.");
    expect(messageOf(new ApiError(409, "not_reviewable", "It still runs."), t)).toEqual({ text: "It still runs.", code: "not_reviewable" });
    expect(messageOf(new ApiError(500, "internal", "Traceback"), t).text).not.toContain("Traceback");
    expect(messageOf(new NetworkError(null), t).code).toBeNull();
  });
});
