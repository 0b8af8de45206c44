/** Finding where typed text lands costs two pictures a step: a long run of typing is not looked through. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";

import type { Observation } from "@/generated/vocabulary";

import { useCaret } from "./use-caret";

const picture = (name: string) => ({ screenshot: { sha256: name, media_type: "image/png", size: 1 }, width: 100, height: 50 }) as Observation;
const steps = Array.from({ length: 200 }, (_, index) => ({
  command_id: `step-${index}`,
  action: index === 0 ? ({ kind: "click", x: 30, y: 20 } as const) : ({ kind: "type_text", text: "a" } as const),
  before: picture(`${index}`),
  after: picture(`${index + 1}`),
}));

it("looks at the last steps of a run of typing only", async () => {
  const loaded: string[] = [];
  vi.stubGlobal(
    "Image",
    class {
      set src(address: string) {
        loaded.push(address);
      }
      decode = () => Promise.reject(new Error("no pictures here"));
    },
  );
  const client = new QueryClient();
  const { result } = renderHook(() => useCaret(steps, (sha256) => sha256), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(client.isFetching()).toBe(0));
  expect(loaded).toHaveLength(16);
  expect(result.current, "the place that was pointed at stands in").toEqual({ x: 30, y: 20 });
  vi.unstubAllGlobals();
});
