// @vitest-environment jsdom -- happy-dom has no clipboard events
/** A click copies, whatever the browser allows. */
import { afterEach, expect, it, vi } from "vitest";

import { copyText } from "./copy-text";

/** What a browser does on `execCommand("copy")`: one `copy` event, whose data it takes. */
function copiesByCommand(): Map<string, string> {
  const copied = new Map<string, string>();
  document.execCommand = () => {
    const event = new Event("copy", { cancelable: true });
    Object.assign(event, { clipboardData: { setData: (type: string, text: string) => copied.set(type, text) } });
    return document.dispatchEvent(event);
  };
  return copied;
}

afterEach(() => vi.unstubAllGlobals());

it.each([
  ["there is no clipboard outside of secure pages", undefined],
  ["the browser refuses it", { writeText: () => Promise.reject(new DOMException("no", "NotAllowedError")) }],
])("copies where %s", async (_, clipboard) => {
  vi.stubGlobal("navigator", { clipboard });
  const copied = copiesByCommand();
  await copyText("one\ntwo");
  expect(copied.get("text/plain")).toBe("one\ntwo");
});
