/** Changes several pools in one go, all of them or none; what each had before comes back by an undo. */
import { Button, Group, NumberInput } from "@mantine/core";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { useChange, type PoolVersion, type Settings } from "./api";
import { changesOf } from "./settings";

type RevertChange = { readonly pools: readonly PoolVersion[]; readonly changes: Partial<Settings> };

/** What gives each of these pools back what such a change took: pools that had the same, together. */
function revertChanges(pools: readonly PoolRow[], changes: Partial<Settings>): RevertChange[] {
  const found = new Map<string, { pools: PoolVersion[]; changes: Partial<Settings> }>();
  for (const { id, version, settings } of pools) {
    const revert = changesOf({ ...settings, ...changes }, settings);
    const key = JSON.stringify(revert);
    const group = found.get(key) ?? { pools: [], changes: revert };
    group.pools.push({ id, version: version + 1 });
    if (Object.keys(revert).length > 0) found.set(key, group);
  }
  return [...found.values()];
}

/** Changes pools so that it can be undone; nothing is taken back from whoever changed one of them since. */
export function useBulkChange() {
  const { t } = useI18n();
  const change = useChange();
  const undoable = useUndoable();
  const changeAll = (pools: readonly PoolRow[], changes: Partial<Settings>, onDone?: () => void) => {
    const revert = revertChanges(pools, changes);
    undoable({
      act: () => change.mutateAsync({ type: "change", pools, changes }).then(onDone),
      done: t("pools.selected.changed", { count: pools.length }),
      undo: async () => {
        for (const each of revert) await change.mutateAsync({ type: "change", ...each });
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

export function BulkEditBar({ pools, all, onEdit, onAll, onNone }: Props) {
  const { t } = useI18n();
  const { change, changeAll } = useBulkChange();
  const [priority, setPriority] = useState<number | string>(0);
  const set = (changes: Partial<Settings>) => changeAll(pools, changes);
  return (
    <Group px="md" py="xs" gap="sm" role="group" aria-label={t("pools.selected", { count: pools.length })}>
      <span>{t("pools.selected", { count: pools.length })}</span>
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
        {t("pools.edit_selected")}
      </Button>
      <Problem error={change.error} />
    </Group>
  );
}
