/** Ctrl+Enter in a text area, which keeps Enter for itself, submits its form. */
import type { KeyboardEvent } from "react";

export function submitOnModEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
