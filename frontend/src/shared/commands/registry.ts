/** Which commands are live, and which one a key press means. */
import { keysOf, type Binding, type KeyMap } from "@/shared/commands/command";
import { combinationsOf, type KeyPress } from "@/shared/commands/keys";

/** One open screen's bindings; mutable, so that a screen renews them as its state changes without moving in the order. */
export type Layer = { bindings: readonly Binding[] };

/** Live bindings in the order their screens opened; the latest is asked first. */
export class Registry {
  private readonly layers: Layer[] = [];

  /** Make a layer live; the function returned takes it out again. */
  add(layer: Layer): () => void {
    this.layers.push(layer);
    return () => {
      this.layers.splice(this.layers.indexOf(layer), 1);
    };
  }

  /** Every live binding, latest screen first. */
  live(): Binding[] {
    return this.layers.toReversed().flatMap((layer) => layer.bindings);
  }

  /** The binding a key press means, if it is enabled; the most literal reading of the press wins. */
  find(press: KeyPress, keyMap: KeyMap, typing: boolean, inDialog = false): Binding | null {
    const live = this.live().filter(
      ({ command, enabled }) => enabled !== false && (!typing || command.whileTyping === true) && (!inDialog || command.overDialogs === true),
    );
    for (const combination of combinationsOf(press)) {
      const binding = live.find(({ command }) => keysOf(command, keyMap).includes(combination));
      if (binding) return binding;
    }
    return null;
  }
}

const EDITABLE = "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range]), textarea, [contenteditable=true], .cm-editor";
const ACTIVATED = "button, a[href], summary, select, [role=button], [role=option], [role=menuitem], [role=tab], [role=switch], [role=checkbox]";
const STEERED = "select, [role=slider], [role=tab], [role=radio], [role=option], [role=listbox], [role=menuitem], input[type=radio], input[type=range]";

/** Whether a text field has the focus. */
export const isTyping = (target: EventTarget | null) => target instanceof Element && target.closest(EDITABLE) !== null;

/** Whether a dialog that is open over the screen has the focus. */
export const isInDialog = (target: EventTarget | null) => target instanceof Element && target.closest("[aria-modal=true]") !== null;

/** Whether the focused control needs this key for itself, as a button needs Enter. */
export function isClaimed(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof Element)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Enter" || event.key === " ") return target.closest(ACTIVATED) !== null;
  return event.key.startsWith("Arrow") && target.closest(STEERED) !== null;
}
