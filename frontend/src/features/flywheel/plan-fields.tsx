/** Fields that every training of a recipe has. */
import { NumberInput, Switch } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

export type PlanProps<Plan> = { readonly plan: Plan | null; readonly initial: Plan; readonly onChange: (plan: Plan | null) => void };

export function PlanSwitch<Plan>({ phase, plan, initial, onChange }: PlanProps<Plan> & { readonly phase: "sft" | "ct" | "pref" | "rl" }) {
  const { t } = useI18n();
  return (
    <Switch
      label={t(`flywheel.form.${phase}`)}
      description={t(`flywheel.form.${phase}.help`)}
      checked={plan !== null}
      onChange={(event) => onChange(event.currentTarget.checked ? initial : null)}
    />
  );
}

/** How long a training is, and in which cycles it is done. */
export function Cadence<Plan extends { updates: number; every: number }>({ plan, onChange }: { plan: Plan; onChange: (plan: Plan) => void }) {
  const { t } = useI18n();
  return (
    <>
      <Amount label={t("flywheel.form.updates")} value={plan.updates} onChange={(updates) => onChange({ ...plan, updates })} min={1} max={1_000_000} />
      <Amount label={t("flywheel.form.every")} value={plan.every} onChange={(every) => onChange({ ...plan, every })} min={1} max={1_000} />
    </>
  );
}

type AmountProps = {
  readonly label: string;
  readonly help?: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly min: number;
  readonly max?: number;
  readonly step?: number;
};

/** A number; one that is emptied goes back to its least value. */
export function Amount({ label, help, value, onChange, min, max, step }: AmountProps) {
  return (
    <NumberInput
      label={label}
      description={help}
      value={value}
      onChange={(entered) => onChange(typeof entered === "number" ? entered : min)}
      min={min}
      max={max ?? Number.MAX_SAFE_INTEGER}
      step={step ?? 1}
      allowDecimal={step !== undefined && step < 1}
    />
  );
}
