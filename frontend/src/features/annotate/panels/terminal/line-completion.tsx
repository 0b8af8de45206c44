/** What the machine's shell offers for the line of a terminal, as a list above it. */
import { Combobox, useCombobox, VisuallyHidden, type ComboboxStore } from "@mantine/core";
import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { commonBeginning } from "@/features/annotate/step/shell-completion";

import styles from "./terminal.module.css";

export interface LineCompletion {
  readonly labels: readonly string[];
  /** The whole line with each of them. */
  readonly lines: readonly string[];
  /** Whether there are options besides these. */
  readonly more: boolean;
}

/** `offered` is null while no list is shown. Tab asks, and writes what all options begin with if it knows all of them. */
export function useLineCompletion(line: string, setLine: (line: string) => void, ask: (line: string) => Promise<LineCompletion | null>) {
  const [offered, setOffered] = useState<LineCompletion | null>(null);
  const [count, setCount] = useState<string | null>(null);
  const current = useRef(line);
  useEffect(() => {
    current.current = line;
  }, [line]);
  const close = () => setOffered(null);
  const list = useCombobox({ opened: offered !== null, onDropdownClose: close });
  const complete = async () => {
    const found = await ask(line);
    if (current.current !== line) return; // it was written on meanwhile
    const { lines, more } = found ?? { lines: [], more: false };
    const begun = more ? line : commonBeginning(lines);
    if (begun.length > line.length || (lines.length === 1 && !more)) setLine(begun);
    setCount(`${lines.length}${more ? "+" : ""}`);
    setOffered(lines.length > 1 || (more && lines.length === 1) ? found : null);
  };
  const accept = (chosen: string) => {
    setLine(chosen);
    close();
  };
  const forget = () => {
    setCount(null);
    close();
  };
  /** The key that asked, once more: the first option, then the one that was chosen. */
  const next = () => {
    if (list.getSelectedOptionIndex() < 0) list.selectFirstOption();
    else list.clickSelectedOption();
  };
  /** True for a key that is dealt with, false for one that the list itself deals with, null for any other. */
  const takeKey = (event: KeyboardEvent<HTMLInputElement>): boolean | null => {
    if (event.key === "Tab") {
      if (event.shiftKey || line.trim() === "") return null; // the focus moves
      if (offered !== null) next();
      else if (event.currentTarget.selectionEnd === line.length) void complete();
      else return null;
      return true;
    }
    if (offered === null) return null;
    if (event.key === "Escape") {
      forget();
      return true;
    }
    return event.key === "ArrowUp" || event.key === "ArrowDown" || (event.key === "Enter" && list.getSelectedOptionIndex() >= 0) ? false : null;
  };
  return { list, offered, count, accept, close: forget, takeKey };
}

interface ListProps {
  readonly store: ComboboxStore;
  readonly offered: LineCompletion | null;
  readonly count: string | null;
  readonly onAccept: (line: string) => void;
  readonly children: ReactElement;
}

/** The line with the list above it. */
export function CompletionList({ store, offered, count, onAccept, children }: ListProps) {
  const { t } = useI18n();
  return (
    <Combobox store={store} onOptionSubmit={onAccept} position="top-start" width="max-content">
      <Combobox.Target withKeyboardNavigation={offered !== null}>{children}</Combobox.Target>
      <VisuallyHidden role="status">{count !== null && t("terminal.completions.count", { count })}</VisuallyHidden>
      <Combobox.Dropdown hidden={offered === null}>
        <Combobox.Options aria-label={t("terminal.completions")} className={styles.completions}>
          {offered?.lines.map((whole, index) => <Combobox.Option key={whole} value={whole}>{offered.labels[index]}</Combobox.Option>)}
        </Combobox.Options>
        {offered?.more === true && <Combobox.Footer>{t("terminal.completions.more")}</Combobox.Footer>}
      </Combobox.Dropdown>
    </Combobox>
  );
}
