/** The line of a terminal: what is written becomes a step, the arrow keys bring back what was written before, Tab completes. */
import { VisuallyHidden } from "@mantine/core";
import { useId, useState, type KeyboardEvent, type Ref } from "react";

import { useI18n } from "@/shared/i18n/i18n";

import { CompletionList, useLineCompletion, type LineCompletion } from "./line-completion";
import styles from "./terminal.module.css";

interface Props {
  readonly ref: Ref<HTMLInputElement | null>;
  readonly sign: string;
  readonly label: string;
  readonly disabled: boolean;
  /** What was written before, oldest first. */
  readonly history: readonly string[];
  readonly onSubmit: (line: string) => void;
  readonly onInterrupt: (() => void) | null;
  readonly onLeave: () => void;
  /** What the line may go on as, each a whole line. */
  readonly onComplete: (line: string) => Promise<LineCompletion | null>;
}

export function Prompt({ ref, sign, label, disabled, history, onSubmit, onInterrupt, onLeave, onComplete }: Props) {
  const { t } = useI18n();
  const keys = useId();
  const [line, setLine] = useState("");
  const [back, setBack] = useState(0);
  const { list, offered, count, accept, close, takeKey } = useLineCompletion(line, setLine, onComplete);

  const recall = (steps: number) => {
    const to = Math.max(0, Math.min(history.length, back + steps));
    setBack(to);
    setLine(to === 0 ? "" : (history[history.length - to] ?? ""));
  };
  /** Whether the key is one of the line's. */
  const lineKey = (event: KeyboardEvent<HTMLInputElement>): boolean => {
    const nothingSelected = event.currentTarget.selectionStart === event.currentTarget.selectionEnd;
    if (event.key === "Enter") {
      close();
      onSubmit(line);
      setLine("");
      setBack(0);
    } else if (event.key === "ArrowUp") recall(1);
    else if (event.key === "ArrowDown") recall(-1);
    else if (event.key === "Escape") onLeave();
    else if (event.key === "c" && event.ctrlKey && nothingSelected && onInterrupt !== null) onInterrupt();
    else return false;
    return true;
  };
  const key = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const taken = takeKey(event) ?? (lineKey(event) || null);
    if (taken === null) return;
    if (taken) event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.prompt}>
      <span aria-hidden>{sign}</span>
      <CompletionList store={list} offered={offered} count={count} onAccept={accept}>
        <input
          ref={ref}
          aria-label={label}
          aria-describedby={keys}
          placeholder={t("terminal.placeholder")}
          value={line}
          disabled={disabled}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={20_000}
          onChange={(event) => {
            setLine(event.currentTarget.value);
            close();
          }}
          onBlur={close}
          onKeyDown={key}
        />
      </CompletionList>
      <VisuallyHidden id={keys}>{t("terminal.line.keys")}</VisuallyHidden>
    </div>
  );
}
