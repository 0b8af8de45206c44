/** What hosted models may cost in a pool, and what they may have done without a person. */
import { Checkbox, NumberInput } from "@mantine/core";

import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";

import type { Settings } from "./api";
import styles from "./pools.module.css";

type Props = { readonly draft: Settings; readonly onChange: (changed: Partial<Settings>) => void; readonly spent: number };

export function HostedModelFields({ draft, onChange, spent }: Props) {
  const { t, language } = useI18n();
  return (
    <div className={styles.two}>
      <NumberInput
        label={t("pools.policy_budget")}
        description={t("pools.policy_budget.help", { spent: dollars(spent, language) })}
        placeholder={t("pools.no_limit")}
        value={draft.policy_budget ?? ""}
        onChange={(value) => onChange({ policy_budget: typeof value === "number" ? value : null })}
        min={0}
        max={1_000_000_000}
        decimalScale={2}
      />
      <Checkbox
        label={t("pools.unattended_safety_checks")}
        checked={draft.unattended_safety_checks}
        onChange={(event) => onChange({ unattended_safety_checks: event.currentTarget.checked })}
      />
    </div>
  );
}
