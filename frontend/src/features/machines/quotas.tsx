/** How many machines a user or a pool may hold at once. */
import { Button, Group, NumberInput, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useState } from "react";

import type { Quota } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { useChange } from "./api";

const MAX_LIMIT = 100_000;

export function QuotaTable({ quotas }: { quotas: readonly Quota[] }) {
  const { t } = useI18n();
  const change = useChange();
  const undoable = useUndoable();
  const set = ({ scope, name }: Quota, limit: number | null) => change.mutateAsync({ type: "quota", quota: { scope, name, limit } });
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={quotas}
        keyOf={(quota) => `${quota.scope} ${quota.name}`}
        columns={[
          {
            header: t("machines.quota.whose"),
            kind: "name",
            cell: (quota) => (
              <>
                {t(`machines.quota.${quota.scope}`)} <strong>{quota.name === "*" ? t("machines.quota.each") : quota.name}</strong>
              </>
            ),
          },
          { header: t("machines.quota.held"), kind: "number", cell: (quota) => quota.held },
          { header: t("machines.quota.limit"), kind: "number", cell: (quota) => quota.limit },
          {
            header: t("machines.actions"),
            kind: "actions",
            cell: (quota) => (
              <Button
                variant="default"
                size="compact-xs"
                loading={change.isPending}
                aria-label={t("machines.quota.lift_one", { name: quota.name })}
                onClick={() =>
                  undoable({
                    act: () => set(quota, null),
                    done: t("machines.quota.lifted", { name: quota.name }),
                    undo: () => set(quota, quota.limit),
                  })
                }
              >
                {t("machines.quota.lift")}
              </Button>
            ),
          },
        ]}
      />
    </>
  );
}

export function QuotaDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("machines.quota.add")}>
      <QuotaForm onDone={onClose} />
    </Dialog>
  );
}

function QuotaForm({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [scope, setScope] = useState<Quota["scope"]>("user");
  const [name, setName] = useState("*");
  const [limit, setLimit] = useState<number | string>(2);
  const usable = name.trim() !== "" && typeof limit === "number";
  const submit = () => {
    if (typeof limit !== "number") return;
    change.mutate({ type: "quota", quota: { scope, name: name.trim(), limit } }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        <SegmentedControl
          aria-label={t("machines.quota.whose")}
          value={scope}
          onChange={(value) => setScope(value === "pool" ? "pool" : "user")}
          data={[
            { value: "user", label: t("machines.quota.user") },
            { value: "pool", label: t("machines.quota.pool") },
          ]}
        />
        <TextInput
          label={t("machines.quota.name")}
          description={t("machines.quota.name.help")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          data-autofocus
        />
        <NumberInput label={t("machines.quota.limit")} value={limit} onChange={setLimit} min={0} max={MAX_LIMIT} />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button type="submit" disabled={!usable} loading={change.isPending}>
            {t("machines.quota.set")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
