/** The size of the screen at which tasks of a suite are wanted, of those that all chosen tasks are offered in. */
import { Select } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

import { offeredSizes, type TaskWithSizes } from "./sizes";

type Props = {
  /** Of the suite; those that are missing have a single size. */
  readonly tasks: readonly TaskWithSizes[];
  /** The names of the tasks that are wanted; empty: all that can have the size. */
  readonly chosen: readonly string[];
  /** Empty: each task's own. */
  readonly value: string;
  readonly onChange: (size: string) => void;
};

/** Nothing where no task of the suite has a choice; without a size in common it says why. */
export function SizeSelect({ tasks, chosen, value, onChange }: Props) {
  const { t } = useI18n();
  if (offeredSizes(tasks, []).length < 2) return null;
  const sizes = offeredSizes(tasks, chosen);
  const help = chosen.length === 0 ? "suite.size.help" : "suite.size.help_chosen";
  return (
    <Select
      label={t("suite.size")}
      description={t(sizes.length === 0 ? "suite.size.none" : help)}
      data={[{ value: "", label: t("suite.size.own") }, ...sizes.map((size) => ({ value: size, label: size.replace("x", " × ") }))]}
      value={value}
      onChange={(size) => onChange(size ?? "")}
      disabled={sizes.length === 0}
      allowDeselect={false}
    />
  );
}
