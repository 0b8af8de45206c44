/** What a provider wants a person to look at before a candidate is done; only the button here does it. */
import { Button } from "@mantine/core";

import type { Proposal } from "@/generated/vocabulary";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import styles from "./proposals.module.css";

export function SafetyChecks({ proposal }: { readonly proposal: Proposal }) {
  const { t } = useI18n();
  const { canAct, acknowledge } = useWorkspace();
  return (
    <div className={styles.checks} role="group" aria-label={t("proposals.checks", { number: proposal.rank })}>
      <Badge tone="warn">{t("proposals.check")}</Badge>
      <ul>
        {proposal.safety_checks.map(({ id, code, message }) => (
          <li key={id}>{message || code || t("proposals.check.unnamed")}</li>
        ))}
      </ul>
      <Button size="compact-xs" variant="default" disabled={!canAct || proposal.action === null} onClick={() => acknowledge(proposal)}>
        {t("proposals.acknowledge")}
      </Button>
    </div>
  );
}
