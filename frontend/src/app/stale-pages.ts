/**
 * Parts of the page that a server of another version no longer has: after an upgrade, whoever has the page open asks for
 * files by their old names. A reload brings the new page.
 */
const RELOADED_AT = "pilothouse-reloaded-at";
const RETRY_AFTER_MS = 30_000;

const failures = new WeakSet();

/** Remembers which errors are of parts that could not be loaded; Vite tells of each before it throws it. */
export function watchPartFailures(): void {
  window.addEventListener("vite:preloadError", ({ payload }) => failures.add(payload));
}

/** Whether an error is of a part of the page that could not be loaded. */
export const isPartFailure = (error: unknown): boolean => error instanceof Error && failures.has(error);

/** Reloads the page, unless that was tried a moment ago. Returns whether it does. */
export function reloadOnce(place: Pick<Location, "reload"> = window.location, now = Date.now()): boolean {
  if (now - Number(sessionStorage.getItem(RELOADED_AT)) < RETRY_AFTER_MS) return false;
  sessionStorage.setItem(RELOADED_AT, String(now));
  place.reload();
  return true;
}
