/** What an action on files, commands, code or tools says, laid out to be read: null for every other kind. */
import { diffLines } from "diff";
import { lazy, Suspense, type ReactNode } from "react";

import type { Action } from "@/generated/vocabulary";
import { useI18n, type I18n } from "@/shared/i18n/i18n";

import styles from "./action-text.module.css";

const HighlightedCode = lazy(() => import("./highlighted-code"));

/** As the body of a card or a step; `null` where words and a call say it all. */
export function bodyOf(action: Action): ReactNode {
  switch (action.kind) {
    case "run_command":
      return <pre className={styles.body}><span className={styles.prompt}>$ </span>{action.command}</pre>;
    case "type_terminal":
      return action.text === "" ? null : <pre className={styles.body}><span className={styles.prompt}>› </span>{keystrokes(action.text)}</pre>;
    case "run_code":
      return <pre className={styles.body}><Suspense fallback={action.code}><HighlightedCode text={action.code} /></Suspense></pre>;
    case "write_file":
      return <pre className={styles.body}>{action.text}</pre>;
    case "edit_file":
      return <Difference before={action.old} after={action.new} />;
    case "call_tool":
      return Object.keys(action.arguments).length === 0 ? null : <pre className={styles.body}>{JSON.stringify(action.arguments, null, 1)}</pre>;
    default:
      return null;
  }
}

/** What stands over a body that says the rest; null where the words do not repeat it. */
export function titleOf(action: Action, { t }: I18n): string | null {
  switch (action.kind) {
    case "run_command":
      return t("action.run_command_title");
    case "type_terminal":
      return t("action.type_terminal_title", { session: action.session });
    case "run_code":
      return t("action.run_code_title");
    default:
      return null;
  }
}

/** Old and new text of an edit, line by line; marked by signs as well as by colour. */
function Difference({ before, after }: { before: string; after: string }) {
  const { t } = useI18n();
  return (
    <pre className={styles.body} aria-label={t("action.difference")}>
      {diffLines(before, after).map(({ value, added, removed }, index) => {
        const lines = value.replace(/\n$/, "").split("\n");
        if (added) return <ins key={index}>{lines.map((line) => `+ ${line}\n`).join("")}</ins>;
        if (removed) return <del key={index}>{lines.map((line) => `- ${line}\n`).join("")}</del>;
        return <span key={index}>{lines.map((line) => `  ${line}\n`).join("")}</span>;
      })}
    </pre>
  );
}

const NAMES: Readonly<Record<string, string>> = { "\n": "⏎\n", "\r": "⏎\n", "\t": "⇥", "\u001b": "␛", "\u007f": "⌫" };

/** Text sent to a terminal, with its control characters made visible: "\x03" is ^C. */
export function keystrokes(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f]/g, (control) => NAMES[control] ?? `^${String.fromCharCode(control.charCodeAt(0) + 64)}`);
}
