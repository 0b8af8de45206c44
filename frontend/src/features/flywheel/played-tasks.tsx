/** What reinforcement plays: a suite at all or some of its levels, or the tasks of a pool. */
import { NativeSelect, SimpleGrid, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { RolloutSettings } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { poolsQuery } from "./api";
import { isEmpty } from "./recipe-form";

type Props = { readonly play: RolloutSettings; readonly onChange: (play: RolloutSettings) => void };

/** Levels as texts; a recipe that was written as JSON may have none. */
const textsOf = (levels: readonly number[] | undefined): string[] => (levels ?? []).map(String);

export function PlayedTasks({ play, onChange }: Props) {
  const { t } = useI18n();
  const set = (changed: Partial<RolloutSettings>) => onChange({ ...play, ...changed });
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <NativeSelect
        label={t("flywheel.form.play.source")}
        value={play.source}
        onChange={(event) => set(event.currentTarget.value === "pool" ? { source: "pool", suite: "", levels: [], size: "" } : { source: "suite", pool: "" })}
        data={[
          { value: "suite", label: t("flywheel.form.play.source.suite") },
          { value: "pool", label: t("flywheel.form.play.source.pool") },
        ]}
      />
      {play.source === "pool" ? (
        <PlayedPool play={play} onChange={onChange} />
      ) : (
        <>
          <TextInput label={t("flywheel.form.suite")} value={play.suite} onChange={(event) => set({ suite: event.currentTarget.value })} required />
          <TagsInput
            label={t("flywheel.form.play.levels")}
            description={t("flywheel.form.play.levels.help")}
            value={textsOf(play.levels)}
            onChange={(entered) => set({ levels: entered.map(Number).filter((level) => Number.isInteger(level) && level > 0) })}
            splitChars={[",", " "]}
          />
        </>
      )}
    </SimpleGrid>
  );
}

function PlayedPool({ play, onChange }: Props) {
  const { t } = useI18n();
  const pools = useQuery(poolsQuery);
  const names = new Set(pools.data?.map(({ name }) => name));
  if (!isEmpty(play.pool)) names.add(play.pool);
  return (
    <NativeSelect
      label={t("flywheel.form.play.pool")}
      description={t("flywheel.form.play.pool.help")}
      value={play.pool}
      onChange={(event) => onChange({ ...play, pool: event.currentTarget.value })}
      data={[{ value: "", label: t("flywheel.form.play.pool.own") }, ...[...names].map((name) => ({ value: name, label: name }))]}
    />
  );
}
