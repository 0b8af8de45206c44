/** What the record says of a file, and the smallest act that makes a changed text of it; pure. */
import type { Action, Step } from "@/generated/vocabulary";

/** Longest text of an edit (characters), as `edit_file` takes it. */
const MAX_EDIT_LENGTH = 20_000;
/** What a machine puts under a text it had to cut. */
const CUT = /\n\[cut after \d+ bytes\]$/;

interface Contents {
  readonly text: string;
  /** Only its beginning was read, so it cannot be written back. */
  readonly cut: boolean;
}

/** A file as the steps read, wrote and edited it; null where none of them showed its text. */
export function contentsOf(steps: readonly Step[], path: string): Contents | null {
  return steps.reduce<Contents | null>((known, { action, after, error }) => {
    if (error !== null || !("path" in action) || action.path !== path) return known;
    switch (action.kind) {
      case "read_file":
        return after?.text == null ? known : { text: after.text.replace(CUT, ""), cut: CUT.test(after.text) };
      case "write_file":
        return { text: action.text, cut: false };
      case "edit_file":
        return known === null ? null : { ...known, text: known.text.replace(action.old, () => action.new) };
      default:
        return known;
    }
  }, null);
}

/** The last file the steps read or wrote. */
export function lastUsedFile(steps: readonly Step[]): string | null {
  const last = steps.findLast(({ action: { kind }, error }) => error === null && (kind === "read_file" || kind === "write_file" || kind === "edit_file"));
  return last !== undefined && "path" in last.action ? last.action.path : null;
}

/** The act that saves a change: an edit where the changed lines are found once in the file, else the whole text. */
export function saveAction(path: string, before: string | null, after: string, capabilities: readonly string[]): Action {
  const whole: Action = { kind: "write_file", path, text: after };
  if (before === null || !capabilities.includes("edit_file")) return whole;
  const edit = changedLines(before, after);
  const fits = edit.old !== "" && edit.old.length <= MAX_EDIT_LENGTH && edit.new.length <= MAX_EDIT_LENGTH;
  const shorter = edit.old.length + edit.new.length < after.length;
  const once = before.indexOf(edit.old) === before.lastIndexOf(edit.old);
  return fits && once && shorter ? { kind: "edit_file", path, old: edit.old, new: edit.new } : whole;
}

/** The lines between the common beginning and the common end of two texts, with one line around them. */
function changedLines(before: string, after: string): { old: string; new: string } {
  const [one, other] = [lines(before), lines(after)];
  let start = 0;
  while (start < Math.min(one.length, other.length) && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const from = Math.max(0, start - 1);
  const commonEnd = Math.max(0, end - 1);
  return { old: one.slice(from, one.length - commonEnd).join(""), new: other.slice(from, other.length - commonEnd).join("") };
}

/** Lines with their ends. */
function lines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** A name in a folder, or the folder above it (".."), as a path; one that is not absolute begins at the home folder. */
export function pathIn(folder: string, name: string): string {
  const parts = folder.split("/").filter((part) => part !== "" && part !== ".");
  const above = parts.at(-1);
  const path = name !== ".." || above === undefined || above === ".." ? [...parts, name] : parts.slice(0, -1);
  if (folder.startsWith("/")) return `/${path.filter((part) => part !== "..").join("/")}`;
  return path.join("/") || ".";
}
