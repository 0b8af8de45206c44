/** Changes several pools in one go, all of them or none; what each had before comes back by an undo. */
import { Button, Group, NumberInput } from "@mantine/core";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { useChange, type Seen, type Settings } from "./api";
import { changesOf } from "./settings";

type Former = { readonly pools: readonly Seen[]; readonly changes: Partial<Settings> };

/** What gives each of these pools back what such a change took: pools that had the same, together. */
export function formerOf(pools: readonly PoolRow[], changes: Partial<Settings>): Former[] {
  const found = new Map<string, { pools: Seen[]; changes: Partial<Settings> }>();
  for (const { id, version, settings } of pools) {
    const former = changesOf({ ...settings, ...changes }, settings);
    const key = JSON.stringify(former);
    const those = found.get(key) ?? { pools: [], changes: former };
    those.pools.push({ id, version: version + 1 });
    if (Object.keys(former).length > 0) found.set(key, those);
  }
  return [...found.values()];
}

/** Changes pools so that it can be undone; nothing is taken back from whoever changed one of them since. */
export function useChangeTogether() {
  const { t } = useI18n();
  const change = useChange();
  const undoable = useUndoable();
  const changeAll = (pools: readonly PoolRow[], changes: Partial<Settings>, onDone?: () => void) => {
    const former = formerOf(pools, changes);
    undoable({
      act: () => change.mutateAsync({ do: "change", pools, changes }).then(onDone),
      done: t("pools.together.done", { count: pools.length }),
      undo: async () => {
        for (const each of former) await change.mutateAsync({ do: "change", ...each });
      },
    });
  };
  return { change, changeAll };
}

type Props = {
  readonly pools: readonly PoolRow[];
  /** How many there are to choose from. */
  readonly all: number;
  readonly onEdit: () => void;
  readonly onAll: () => void;
  readonly onNone: () => void;
};

export function Together({ pools, all, onEdit, onAll, onNone }: Props) {
  const { t } = useI18n();
  const { change, changeAll } = useChangeTogether();
  const [priority, setPriority] = useState<number | string>(0);
  const set = (changes: Partial<Settings>) => changeAll(pools, changes);
  return (
    <Group px="md" py="xs" gap="sm" role="group" aria-label={t("pools.together", { count: pools.length })}>
      <span>{t("pools.together", { count: pools.length })}</span>
      <Button size="compact-sm" variant="subtle" disabled={pools.length === all} onClick={onAll}>
        {t("pools.choose_all")}
      </Button>
      <Button size="compact-sm" variant="subtle" onClick={onNone}>
        {t("pools.choose_none")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => set({ paused: true })}>
        {t("pools.pause")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => set({ paused: false })}>
        {t("pools.unpause")}
      </Button>
      <NumberInput size="xs" w={90} aria-label={t("pools.priority")} value={priority} onChange={setPriority} allowDecimal={false} />
      <Button
        size="compact-sm"
        variant="default"
        disabled={typeof priority !== "number"}
        onClick={() => typeof priority === "number" && set({ priority })}
      >
        {t("pools.set_priority")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={onEdit}>
        {t("pools.edit_together")}
      </Button>
      <Problem error={change.error} />
    </Group>
  );
}
