/** Which days, split by what, and what the report is narrowed to. */
import { Button, Group, Select, TextInput } from "@mantine/core";
import { X } from "lucide-react";

import { useI18n } from "@/shared/i18n/i18n";

import { GROUPINGS, FILTER_NAMES, matchPeriod, periodOf, PERIODS, valueText, type Filters } from "./filters";
import styles from "./reports.module.css";

type Props = { readonly filters: Filters; readonly change: (next: Filters) => void; readonly today: Date };

export function FilterBar({ filters, change, today }: Props) {
  const { t } = useI18n();
  const period = matchPeriod(filters, today);
  return (
    <div role="search" className={styles.filters} aria-label={t("reports.filters")}>
      <Select
        aria-label={t("reports.period")}
        placeholder={t("reports.other_period")}
        w={150}
        data={PERIODS.map((days) => ({ value: String(days), label: t("reports.days", { count: days }) }))}
        value={period === null ? null : String(period)}
        onChange={(days) => days && change({ ...filters, ...periodOf(Number(days), today) })}
      />
      {(["since", "until"] as const).map((end) => (
        <TextInput
          key={end}
          type="date"
          aria-label={t(`reports.${end}`)}
          w={140}
          value={filters[end]}
          onChange={({ currentTarget: { value } }) => {
            if (!value) return;
            const next = { ...filters, [end]: value };
            if (next.since <= next.until) change(next);
          }}
        />
      ))}
      <Select
        aria-label={t("reports.split")}
        w={170}
        allowDeselect={false}
        data={GROUPINGS.map((grain) => ({ value: grain, label: t(`reports.by.${grain}`) }))}
        value={filters.by}
        onChange={(by) => change({ ...filters, by: GROUPINGS.find((grain) => grain === by) ?? filters.by })}
      />
      <Group gap="xs">
        {FILTER_NAMES.map(
          (name) =>
            filters[name] !== null && (
              <Button
                key={name}
                variant="light"
                size="compact-sm"
                rightSection={<X size={12} aria-hidden />}
                aria-label={t("reports.without", { what: t(`reports.only.${name}`), value: valueText(name, filters[name], t) })}
                onClick={() => change({ ...filters, [name]: null })}
              >
                {t(`reports.only.${name}`)} {valueText(name, filters[name], t)}
              </Button>
            ),
        )}
      </Group>
    </div>
  );
}
