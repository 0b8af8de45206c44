/** What a rule would delete, as it was counted. */
import type { RuleOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./retention.module.css";

export function DeletionPreview({ rule: { what, preview } }: { rule: RuleOut }) {
  const { t, bytes, relative } = useI18n();
  if (preview === null) return <span className={styles.note}>{t("retention.not_counted")}</span>;
  const { items, files, spared } = preview;
  return (
    <>
      {t(`retention.items.${what}`, { count: items })}
      {what !== "audit" && <> · {bytes(preview.bytes)}</>}
      <div className={styles.note}>
        {files > 0 && <>{t("retention.files", { count: files })} · </>}
        {spared > 0 && <>{t("retention.spared", { count: spared })} · </>}
        {t("retention.counted", { ago: relative(preview.at) })}
      </div>
    </>
  );
}
