/** When a pool gives tasks out. */
import { Chip, Group, Input, Select, Switch, TextInput } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

import type { Settings } from "./api";
import styles from "./pools.module.css";

type Hours = NonNullable<Settings["hours"]>;
type Props = { readonly hours: Hours | null; readonly onChange: (hours: Hours | null) => void };

const DAYS = [0, 1, 2, 3, 4, 5, 6] as const;
const MONDAY = Date.UTC(2024, 0, 1);
const ZONES = Intl.supportedValuesOf("timeZone");

export function HoursFields({ hours, onChange }: Props) {
  const { t, language } = useI18n();
  const localTimezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const defaultHours: Hours = { timezone: localTimezone, days: [0, 1, 2, 3, 4], start: "09:00:00", end: "17:00:00" };
  const nameOf = (day: number) =>
    new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" }).format(MONDAY + day * 86_400_000);
  return (
    <div className={styles.two}>
      <Switch
        className={styles.whole}
        label={t("pools.hours.on")}
        checked={hours !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? defaultHours : null)}
      />
      {hours && (
        <>
          <Select
            label={t("pools.hours.timezone")}
            data={[...new Set(["UTC", localTimezone, hours.timezone, ...ZONES])]}
            value={hours.timezone}
            onChange={(timezone) => timezone && onChange({ ...hours, timezone })}
            searchable
            allowDeselect={false}
          />
          <Input.Wrapper label={t("pools.hours.days")} labelElement="div">
            <Chip.Group
              multiple
              value={hours.days.map(String)}
              onChange={(days) => days.length > 0 && onChange({ ...hours, days: days.map(Number).sort() })}
            >
              <Group gap={4}>
                {DAYS.map((day) => (
                  <Chip key={day} value={String(day)} size="xs">
                    {nameOf(day)}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Input.Wrapper>
          <TextInput type="time" label={t("pools.hours.start")} value={hours.start.slice(0, 5)} onChange={(event) => onChange({ ...hours, start: `${event.currentTarget.value}:00` })} required />
          <TextInput type="time" label={t("pools.hours.end")} value={hours.end.slice(0, 5)} onChange={(event) => onChange({ ...hours, end: `${event.currentTarget.value}:00` })} required />
        </>
      )}
    </div>
  );
}
