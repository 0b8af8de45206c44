/** How many machines a user or a pool may hold at once. */
import { Button, Group, NumberInput, SegmentedControl, Select, Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Quota } from "@/generated/api";
import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { quotaNamesQuery, useChange } from "./api";

const MAX_LIMIT = 100_000;
const DEBOUNCE_MS = 200;
/** The name of a quota for all without one of their own. */
const EACH = "*";

const namedBy = ({ scope, name }: Quota, t: Translate): string => `${t(`machines.quota.${scope}`)} ${name === EACH ? t("machines.quota.each") : name}`;

export function QuotaTable({ quotas }: { quotas: readonly Quota[] }) {
  const { t } = useI18n();
  const change = useChange();
  const undoable = useUndoable();
  const [edited, setEdited] = useState<Quota | null>(null);
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
                {t(`machines.quota.${quota.scope}`)} <strong>{quota.name === EACH ? t("machines.quota.each") : quota.name}</strong>
              </>
            ),
          },
          { header: t("machines.quota.held"), kind: "number", cell: (quota) => quota.held },
          { header: t("machines.quota.limit"), kind: "number", cell: (quota) => quota.limit },
          {
            header: t("machines.actions"),
            kind: "actions",
            cell: (quota) => (
              <>
                <Button variant="default" size="compact-xs" aria-label={t("machines.quota.edit_one", { name: namedBy(quota, t) })} onClick={() => setEdited(quota)}>
                  {t("machines.quota.edit")}
                </Button>
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
              </>
            ),
          },
        ]}
      />
      <Dialog opened={edited !== null} onClose={() => setEdited(null)} title={edited ? t("machines.quota.edit_one", { name: namedBy(edited, t) }) : ""}>
        {edited && <QuotaForm edited={edited} onDone={() => setEdited(null)} />}
      </Dialog>
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

/** A new limit, or another one for the same user or pool. */
function QuotaForm({ edited, onDone }: { edited?: Quota; onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [scope, setScope] = useState<Quota["scope"]>(edited?.scope ?? "user");
  const [name, setName] = useState(edited?.name ?? EACH);
  const [limit, setLimit] = useState<number | string>(edited?.limit ?? 2);
  const submit = () => {
    if (typeof limit === "number") change.mutate({ type: "quota", quota: { scope, name, limit } }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        {!edited && (
          <>
            <SegmentedControl
              aria-label={t("machines.quota.whose")}
              value={scope}
              onChange={(value) => {
                setScope(value === "pool" ? "pool" : "user");
                setName(EACH);
              }}
              data={[
                { value: "user", label: t("machines.quota.user") },
                { value: "pool", label: t("machines.quota.pool") },
              ]}
            />
            <NameSelect scope={scope} value={name} onChange={setName} />
          </>
        )}
        <NumberInput label={t("machines.quota.limit")} value={limit} onChange={setLimit} min={0} max={MAX_LIMIT} data-autofocus={edited ? true : undefined} />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button type="submit" disabled={typeof limit !== "number"} loading={change.isPending}>
            {t("machines.quota.set")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A user or a pool that there is, or all without a limit of their own. */
function NameSelect({ scope, value, onChange }: { scope: Quota["scope"]; value: string; onChange: (name: string) => void }) {
  const { t } = useI18n();
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words, DEBOUNCE_MS);
  const isChosen = search === t("machines.quota.all") || search === value || search.endsWith(`(${value})`);
  const names = useQuery(quotaNamesQuery(scope, scope === "pool" || isChosen ? "" : search)).data ?? [];
  return (
    <Select
      key={scope}
      label={t(`machines.quota.${scope}`)}
      data={[
        { value: EACH, label: t("machines.quota.all") },
        ...(value === EACH || names.some((each) => each.value === value) ? names : [{ value, label: value }, ...names]),
      ]}
      value={value}
      onChange={(name) => name !== null && onChange(name)}
      onSearchChange={setWords}
      nothingFoundMessage={t("machines.quota.name.none")}
      allowDeselect={false}
      searchable
      data-autofocus
    />
  );
}
