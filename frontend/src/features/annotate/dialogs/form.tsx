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
  const press = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.requestSubmit();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys belong to the fields inside
    <form
      className={styles.form}
      onKeyDown={press}
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
