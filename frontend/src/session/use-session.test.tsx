/** A socket closed because the sign-in ended comes back when the person does. */
import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { setSignInGate } from "@/shared/api/http";

import { useSession } from "./use-session";

class FakeSocket {
  static readonly opened: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  send = vi.fn();
  close = vi.fn();
  constructor() {
    FakeSocket.opened.push(this);
  }
}

afterEach(() => setSignInGate(null));

it("asks for a new sign-in once and connects again after it", async () => {
  vi.stubGlobal("WebSocket", FakeSocket);
  let signIn: () => void = () => undefined;
  const openSignIn = vi.fn(() => new Promise<void>((resolve) => (signIn = resolve)));
  setSignInGate(openSignIn);
  const { result } = renderHook(() => useSession("e1", 1));
  const [first] = FakeSocket.opened;
  act(() => first?.onclose?.({ code: 4401 }));
  expect(result.current.connection.phase).toBe("signed_out");
  expect(openSignIn).toHaveBeenCalledOnce();
  expect(FakeSocket.opened).toHaveLength(1);
  await act(async () => {
    signIn();
    await Promise.resolve();
  });
  expect(FakeSocket.opened).toHaveLength(2);
});
