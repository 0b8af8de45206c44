/** What was changed in a candidate's thought, word by word. */
import { diffWordsWithSpace } from "diff";
import { useMemo } from "react";

import { useI18n } from "@/shared/i18n/i18n";

import styles from "./step.module.css";

export function ThoughtDiff({ before, after }: { before: string; after: string }) {
  const { t } = useI18n();
  const changes = useMemo(() => diffWordsWithSpace(before, after), [before, after]);
  return (
    <p className={styles.diff} aria-label={t("step.diff")}>
      {changes.map(({ value, added, removed }, index) =>
        added ? <ins key={index}>{value}</ins> : removed ? <del key={index}>{value}</del> : <span key={index}>{value}</span>,
      )}
    </p>
  );
}
