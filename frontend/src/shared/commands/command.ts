/** A command: its id, where it applies, its name, its help and its keys; and what a screen makes of it. */
import type { PlainKey } from "@/shared/i18n/i18n";

export type Scope = "global" | "queue" | "workspace" | "takeover" | "replay" | "compare" | "drafts";

/** What is known of a command before any screen is open; the key map and the help are made of these. */
export type Command = {
  /** Stable: key maps are stored by it. `scope.verb`. */
  readonly id: string;
  readonly scope: Scope;
  readonly name: PlainKey;
  readonly help: PlainKey;
  /** Default combinations, the first one shown. */
  readonly keys: readonly string[];
  /** Also while a text field has the focus. */
  readonly whileTyping?: boolean;
  /** Also over a dialog: what it does is offered above all that is open. */
  readonly overDialogs?: boolean;
  /** Again and again while the key is held. */
  readonly repeats?: boolean;
};

/** A command on a screen that is open: whether it can run now, and what it does. */
export type Binding = {
  readonly command: Command;
  readonly enabled?: boolean;
  readonly run: () => void;
};

/** The person's own combinations by command id; a command not named keeps its defaults. */
export type KeyMap = Readonly<Record<string, readonly string[]>>;

export const keysOf = (command: Command, keyMap: KeyMap): readonly string[] => keyMap[command.id] ?? command.keys;

/** Two scopes meet when their commands can be live together. */
const overlap = (a: Scope, b: Scope) => a === b || a === "global" || b === "global";

export type Conflict = { readonly combination: string; readonly commands: readonly [Command, Command] };

/** Pairs of commands that one combination would mean at the same time. */
export function conflictsOf(commands: readonly Command[], keyMap: KeyMap): Conflict[] {
  return commands.flatMap((one, index) =>
    commands
      .slice(index + 1)
      .filter((other) => overlap(one.scope, other.scope))
      .flatMap((other) =>
        keysOf(one, keyMap)
          .filter((combination) => keysOf(other, keyMap).includes(combination))
          .map((combination): Conflict => ({ combination, commands: [one, other] })),
      ),
  );
}
