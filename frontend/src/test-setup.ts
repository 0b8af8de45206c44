/** What a document of tests lacks and Mantine asks for, and an empty store for every test. */
import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach } from "vitest";

/** Files of tests share a window: what one left unsent, another would send. */
beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(cleanup);

/** What is awaited comes late on a busy machine. */
configure({ asyncUtilTimeout: 10_000 });

/** No page of a test reaches a network: tests say themselves what is there. */
globalThis.fetch = () => Promise.reject(new TypeError("This test has no network."));

window.matchMedia = (query) => ({
  matches: false,
  media: query,
  onchange: null,
  addListener: () => undefined,
  removeListener: () => undefined,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  dispatchEvent: () => false,
});

window.ResizeObserver = class {
  observe() {
    return undefined;
  }
  unobserve() {
    return undefined;
  }
  disconnect() {
    return undefined;
  }
};

Element.prototype.scrollIntoView = () => undefined;

Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });
