/** The size of the screen at which tasks of a suite are wanted, of those that they can have. */
import { Select } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

type Props = {
  /** As `640x480`, in pixels. */
  readonly sizes: readonly string[];
  /** Empty: each task's own. */
  readonly value: string;
  readonly onChange: (size: string) => void;
};

const sidesOf = (size: string): number[] => size.split("x").map(Number);
const area = (size: string): number => sidesOf(size).reduce((product, side) => product * side, 1);

/** A size as calls have it: width and height; null: each task's own. */
export const sizeOf = (text: string): number[] | null => (text === "" ? null : sidesOf(text));

/** The sizes of several tasks, each once, the smallest first. */
export const sizesOf = (tasks: readonly { readonly sizes?: readonly string[] }[]): string[] =>
  [...new Set(tasks.flatMap(({ sizes = [] }) => sizes))].sort((one, other) => area(one) - area(other));

/** Nothing where there is no choice. */
export function SizeSelect({ sizes, value, onChange }: Props) {
  const { t } = useI18n();
  if (sizes.length < 2) return null;
  return (
    <Select
      label={t("suite.size")}
      description={t("suite.size.help")}
      data={[{ value: "", label: t("suite.size.own") }, ...sizes.map((size) => ({ value: size, label: size.replace("x", " × ") }))]}
      value={value}
      onChange={(size) => onChange(size ?? "")}
      allowDeselect={false}
    />
  );
}
