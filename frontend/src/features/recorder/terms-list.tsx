/** The pools whose terms somebody has not agreed to: they take no recording before. */
import { Button } from "@mantine/core";
import { useState } from "react";

import type { TermsToAgree } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConsentDialog } from "@/shared/ui/consent-dialog";
import { Problem } from "@/shared/ui/problem";

import { useAgree } from "./api";
import styles from "./recorder.module.css";

export function TermsList({ terms }: { terms: readonly TermsToAgree[] }) {
  const { t } = useI18n();
  const agree = useAgree();
  const [read, setRead] = useState<TermsToAgree | null>(null);
  const close = () => setRead(null);
  return (
    <>
      {terms.map((one) => (
        <p key={one.pool} className={styles.note}>
          {t("recorder.terms", { pool: one.name })}{" "}
          <Button size="compact-xs" variant="default" aria-label={t("recorder.terms.read_of", { pool: one.name })} onClick={() => setRead(one)}>
            {t("recorder.terms.read")}
          </Button>
        </p>
      ))}
      <Problem error={agree.error} />
      <ConsentDialog terms={read} busy={agree.isPending} onAgree={() => read && agree.mutate(read, { onSettled: close })} onClose={close} />
    </>
  );
}
