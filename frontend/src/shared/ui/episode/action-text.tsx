/** An action in words, and below it what it says exactly: its command, code or change, else the call. */
import type { Action } from "@/generated/vocabulary";
import { printAction } from "@/shared/actions/print";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";

import { bodyOf, titleOf } from "./action-body";
import styles from "./action-text.module.css";

/** `grammar` is the action in the model's own words, where a model said it; without it the call is shown. */
export function ActionText({ action, grammar }: { action: Action; grammar?: string }) {
  const i18n = useI18n();
  const body = bodyOf(action);
  return (
    <div className={styles.action}>
      <span className={styles.words}>{(body && titleOf(action, i18n)) ?? describeAction(action, i18n)}</span>
      {body ?? <code className={styles.grammar}>{grammar ?? printAction(action)}</code>}
    </div>
  );
}
