/** The key of a command, drawn as a key. */
import type { Command } from "@/shared/commands/command";
import { useKeys } from "@/shared/commands/commands";
import { labelsOf } from "@/shared/commands/keys";

import styles from "./key-hint.module.css";

export function KeyHint({ keys }: { keys: string }) {
  return (
    <kbd className={styles.hint}>
      {labelsOf(keys).map((label) => (
        <kbd key={label} className={styles.key}>
          {label}
        </kbd>
      ))}
    </kbd>
  );
}

/** The key this person has for a command; nothing where they took it away. */
export function CommandKey({ command }: { command: Command }) {
  const [first] = useKeys(command);
  return first === undefined ? null : <KeyHint keys={first} />;
}
