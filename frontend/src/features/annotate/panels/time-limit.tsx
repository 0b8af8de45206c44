/** For how long a command or a cell may run. */
import { Select } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

/** Seconds, as the actions have them where nothing is said. */
export const DEFAULT_LIMIT = { command: 30, code: 60 } as const;
const LIMITS = [10, 30, 60, 120, 300, 600] as const;

export function TimeLimit({ value, onChange }: { value: number; onChange: (seconds: number) => void }) {
  const { t, duration } = useI18n();
  return (
    <Select
      w={96}
      aria-label={t("panel.limit")}
      allowDeselect={false}
      value={String(value)}
      data={LIMITS.map((seconds) => ({ value: String(seconds), label: duration(seconds * 1_000) }))}
      onChange={(chosen) => onChange(Number(chosen))}
    />
  );
}
