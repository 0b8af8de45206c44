/** The shape all dialogs share: fields, one button, and Ctrl+Enter from anywhere in it. */
import { Button } from "@mantine/core";
import type { KeyboardEvent, ReactNode } from "react";

import { KeyHint } from "@/shared/ui/key-hint";

import styles from "./dialogs.module.css";

interface Props {
  readonly submit: string;
  readonly disabled?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

export function DialogForm({ submit, disabled = false, onSubmit, children }: Props) {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled) onSubmit();
      }}
    >
      {children}
      <div className={styles.buttons}>
        <Button type="submit" disabled={disabled} rightSection={<KeyHint keys="Mod+Enter" />}>{submit}</Button>
      </div>
    </form>
  );
}

/** Ctrl+Enter in a text area, which keeps Enter for itself, submits its form. */
export function submitOnModEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
