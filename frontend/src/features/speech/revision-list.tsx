/** Every change of the thoughts, by whom; each can be restored. */
import { Button } from "@mantine/core";

import type { SpeechOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./speech.module.css";

type Props = { speech: SpeechOut; onRestore: (revision: number) => void };

export function RevisionList({ speech: { revision, revisions, may_edit }, onRestore }: Props) {
  const { t, moment } = useI18n();
  if (revisions.length === 0) return null;
  const restore = (number: number) =>
    may_edit &&
    number !== revision && (
      <Button variant="subtle" size="compact-xs" aria-label={t("speech.restore_revision", { number })} onClick={() => onRestore(number)}>
        {t("speech.restore")}
      </Button>
    );
  return (
    <details className={styles.history}>
      <summary>{t("speech.history", { count: revisions.length })}</summary>
      <ol>
        <li>
          {t("speech.revision.0")} {restore(0)}
        </li>
        {revisions.map(({ number, kind, thought, author, created_at, undone }) => (
          <li key={number} data-undone={undone || undefined} aria-current={number === revision ? "true" : undefined}>
            {number}. {t(`speech.revision.${kind}`, { number: kind === "restore" ? thought : thought + 1 })} · {author} · {moment(created_at)}
            {undone && ` · ${t("speech.undone")}`} {restore(number)}
          </li>
        ))}
      </ol>
    </details>
  );
}
