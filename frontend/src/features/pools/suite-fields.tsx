/** Which tasks of a suite are wanted: chosen from what the bridge reports, by name, level, language, screen size and seeds. */
import { Group, MultiSelect, NumberInput, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { PoolRow, SuiteIn, SuiteInfo } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { SizeSelect } from "@/shared/ui/size-select";
import { keepOffered, sizeOf } from "@/shared/ui/sizes";
import { TaskGallery } from "@/shared/ui/task-gallery";

import { choicesQuery } from "./api";
import styles from "./pools.module.css";

export type SuiteChoice = Required<Pick<SuiteIn, "suite" | "tasks" | "level" | "first_seed" | "seeds" | "language" | "size">>;

const MAX_SEED = 2 ** 31 - 1;
const MAX_SEEDS = 100;
const LANGUAGES = [
  { value: "en", label: "English" },
  { value: "zh", label: "中文" },
] as const;

type Props = {
  readonly platform: PoolRow["settings"]["platform"];
  readonly choice: SuiteChoice | null;
  readonly onChange: (choice: SuiteChoice | null) => void;
};

type ChosenProps = { readonly suite: SuiteInfo; readonly choice: SuiteChoice; readonly onChange: (choice: SuiteChoice) => void };

export function SuiteFields({ platform, choice, onChange }: Props) {
  const { t } = useI18n();
  const choices = useQuery(choicesQuery).data;
  const suites = (choices?.suites ?? []).filter((each) => each.platform === platform);
  const suite = suites.find(({ name }) => name === choice?.suite);
  if (choices !== undefined && suites.length === 0) {
    const reason = choices.reachable ? t("pools.upload.suite.none", { platform: t(`platform.${platform}`) }) : t("pools.image.unreachable");
    return <Text className={styles.note}>{reason}</Text>;
  }
  return (
    <Stack gap="xs">
      <Select
        label={t("pools.upload.suite_name")}
        data={suites.map(({ name }) => name)}
        value={choice?.suite ?? null}
        onChange={(name) => onChange(name === null ? null : { suite: name, tasks: [], level: 1, first_seed: 0, seeds: 1, language: "en", size: null })}
        allowDeselect={false}
        w={220}
      />
      {choice && suite && <ChosenFields suite={suite} choice={choice} onChange={onChange} />}
    </Stack>
  );
}

/** Which of the suite's tasks are wanted, by name or picture, and in which form. */
function ChosenFields({ suite, choice, onChange }: ChosenProps) {
  return (
    <>
      <TaskSelect suite={suite} choice={choice} onChange={onChange} />
      <TaskGallery
        form={{ suite: suite.name, level: choice.level, language: choice.language, size: choice.size?.join("x") ?? "" }}
        chosen={choice.tasks}
        onChange={(tasks) => onChange({ ...choice, tasks, size: sizeOf(keepOffered(choice.size?.join("x") ?? "", suite.tasks, tasks)) })}
      />
      <VariantFields suite={suite} choice={choice} onChange={onChange} />
    </>
  );
}

function TaskSelect({ suite, choice, onChange }: ChosenProps) {
  const { t } = useI18n();
  return (
    <MultiSelect
      label={t("pools.upload.suite.tasks")}
      placeholder={choice.tasks.length > 0 ? undefined : t("pools.upload.suite.all")}
      data={suite.tasks.map(({ name }) => name)}
      value={[...choice.tasks]}
      onChange={(chosen) => onChange({ ...choice, tasks: chosen, level: 1, size: null })}
      renderOption={({ option }) => (
        <div>
          {option.value}
          <Text className={styles.note}>{suite.tasks.find(({ name }) => name === option.value)?.instruction}</Text>
        </div>
      )}
      searchable
      clearable
      w={360}
    />
  );
}

/** In which form the tasks are wanted, as far as the suite has others. */
function VariantFields({ suite, choice, onChange }: ChosenProps) {
  const { t } = useI18n();
  const wanted = suite.tasks.filter(({ name }) => choice.tasks.length === 0 || choice.tasks.includes(name));
  const levels = Math.max(1, ...wanted.map((task) => task.levels));
  return (
    <>
      <Group align="start">
        <NumberInput
          label={t("pools.upload.suite.level")}
          value={Math.min(choice.level, levels)}
          min={1}
          max={levels}
          disabled={levels === 1}
          clampBehavior="strict"
          onChange={(level) => typeof level === "number" && onChange({ ...choice, level })}
          w={110}
        />
        <NumberInput
          label={t("pools.upload.suite.first_seed")}
          value={choice.first_seed}
          min={0}
          max={MAX_SEED}
          clampBehavior="strict"
          onChange={(seed) => typeof seed === "number" && onChange({ ...choice, first_seed: seed })}
          w={110}
        />
        <NumberInput
          label={t("pools.upload.suite.seeds")}
          value={choice.seeds}
          min={1}
          max={MAX_SEEDS}
          clampBehavior="strict"
          onChange={(seeds) => typeof seeds === "number" && onChange({ ...choice, seeds })}
          w={110}
        />
        {suite.languages.length > 1 && (
          <Select
            label={t("pools.upload.suite.language")}
            data={LANGUAGES.filter(({ value }) => suite.languages.includes(value))}
            value={choice.language}
            onChange={(language) => onChange({ ...choice, language: language === "zh" ? "zh" : "en" })}
            allowDeselect={false}
            w={140}
          />
        )}
        <SizeSelect tasks={suite.tasks} chosen={choice.tasks} value={choice.size?.join("x") ?? ""} onChange={(size) => onChange({ ...choice, size: sizeOf(size) })} />
      </Group>
      <Text className={styles.note}>{t("pools.upload.suite.seeds.help")}</Text>
    </>
  );
}
