/** How scores are made: the formula in words, and for admins its weights, units and scales. */
import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";

import type { IndicatorRule, ScoringOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import styles from "@/features/design/design.module.css";
import { INDICATORS, useApplicationChange, type Indicator } from "./api";

const SCALES = ["linear", "log"] as const;
const DEFAULT: IndicatorRule = { weight: 1, unit: "", scale: "linear" };

export function ScoringDialog({ scoring: { version, rule, changed_by, changed_at }, admin }: { scoring: ScoringOut; admin: boolean }) {
  const { t, moment } = useI18n();
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState<Readonly<Record<Indicator, IndicatorRule>>>({
    coverage: rule.coverage ?? DEFAULT,
    engagement: rule.engagement ?? DEFAULT,
    penetration: rule.penetration ?? DEFAULT,
  });
  const change = useApplicationChange();
  const set = (indicator: Indicator, patch: Partial<IndicatorRule>) => setDraft({ ...draft, [indicator]: { ...draft[indicator], ...patch } });
  const weightless = INDICATORS.every((indicator) => draft[indicator].weight === 0);
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        {t("applications.scoring")}
      </Button>
      <Dialog opened={open} onClose={() => setOpen(false)} title={t("applications.scoring")} size="lg">
        <form
          className={styles.stack}
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ type: "score", rule: draft }, { onSuccess: () => setOpen(false) });
          }}
        >
          <ol className={styles.rules}>
            <li>{t("applications.scoring.newest")}</li>
            <li>{t("applications.scoring.share")}</li>
            <li>{t("applications.scoring.mean")}</li>
            <li>{t("applications.scoring.missing")}</li>
          </ol>
          <p className={styles.note}>
            {changed_at === null ? t("applications.scoring.default") : t("applications.scoring.version", { version, who: changed_by, when: moment(changed_at) })}
          </p>
          {INDICATORS.map((indicator) => (
            <fieldset key={indicator} className={styles.rule} disabled={!admin}>
              <legend>{t(`applications.${indicator}`)}</legend>
              <p className={styles.note}>{t(`applications.${indicator}.help`)}</p>
              <div className={styles.fields}>
                <NumberInput
                  label={t("applications.weight")}
                  w={100}
                  min={0}
                  max={100}
                  value={draft[indicator].weight}
                  onChange={(weight) => set(indicator, { weight: Number(weight) })}
                />
                <TextInput
                  label={t("applications.unit")}
                  w={180}
                  maxLength={40}
                  value={draft[indicator].unit}
                  onChange={(event) => set(indicator, { unit: event.currentTarget.value })}
                />
                <Select
                  label={t("applications.scale")}
                  w={220}
                  allowDeselect={false}
                  data={SCALES.map((value) => ({ value, label: t(`applications.scale.${value}`) }))}
                  value={draft[indicator].scale}
                  onChange={(scale) => set(indicator, { scale: SCALES.find((one) => one === scale) ?? "linear" })}
                />
              </div>
            </fieldset>
          ))}
          {weightless && <p role="alert">{t("applications.scoring.weightless")}</p>}
          <Problem error={change.error} />
          {admin && (
            <Button type="submit" disabled={weightless || INDICATORS.some((one) => draft[one].unit.trim() === "")} loading={change.isPending}>
              {t("applications.scoring.save")}
            </Button>
          )}
        </form>
      </Dialog>
    </>
  );
}
