/** Training by preferences: what people corrected and marked. */
import { Checkbox, Group, NativeSelect, SimpleGrid, Stack } from "@mantine/core";

import type { PreferenceTraining } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { Cadence, PlanSwitch, type PlanProps } from "./plan-fields";
import { PREFERENCE_CHOICES } from "./recipe-form";

export function Preferences({ plan, initial, onChange }: PlanProps<PreferenceTraining>) {
  const { t } = useI18n();
  return (
    <>
      <PlanSwitch phase="pref" plan={plan} initial={initial} onChange={onChange} />
      {plan && (
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 2, xs: 3 }}>
            <Cadence plan={plan} onChange={onChange} />
            <NativeSelect
              label={t("flywheel.form.algorithm")}
              value={plan.algorithm}
              onChange={(event) => onChange({ ...plan, algorithm: event.currentTarget.value === "kto" ? "kto" : "dpo" })}
              data={[
                { value: "dpo", label: "DPO" },
                { value: "kto", label: "KTO" },
              ]}
            />
          </SimpleGrid>
          <Checkbox.Group
            label={t("flywheel.form.pref.choices")}
            value={[...plan.choices]}
            onChange={(chosen) => chosen.length > 0 && onChange({ ...plan, choices: PREFERENCE_CHOICES.filter((one) => chosen.includes(one)) })}
          >
            <Group gap="md" mt={4}>
              {PREFERENCE_CHOICES.map((one) => (
                <Checkbox key={one} value={one} label={t(`flywheel.form.pref.${one}`)} />
              ))}
            </Group>
          </Checkbox.Group>
          <Checkbox
            label={t("flywheel.form.pref.earlier")}
            checked={plan.earlier}
            onChange={(event) => onChange({ ...plan, earlier: event.currentTarget.checked })}
          />
        </Stack>
      )}
    </>
  );
}
