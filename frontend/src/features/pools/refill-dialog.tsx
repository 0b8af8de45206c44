/** New tasks for a pool whose policy fails: the rule, what it would add now, and what became of what was added. */
import { Button, Group, NumberInput, Stack, Switch, Text } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolRow, RefillPage, RefillSettings, WantedTasks } from "@/generated/api";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";

const PENDING_INTERVAL_MS = 1_000;
const MAX_PER_DAY = 10_000;
const MAX_WAITING = 1_000;

const refillQuery = (pool: number) =>
  queryOptions({
    queryKey: ["pools-board", "refill", pool],
    queryFn: () => request("GET", `/pools/${pool}/refill`),
    refetchInterval: ({ state }) => (state.data?.pending ? PENDING_INTERVAL_MS : false),
  });

type Change = { readonly settings: RefillSettings } | "now";

function useRefillChange(pool: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) =>
      change === "now" ? request("POST", `/pools/${pool}/refill/now`) : request("POST", `/pools/${pool}/refill`, change.settings),
    onSuccess: (page) => client.setQueryData(refillQuery(pool).queryKey, page),
    onSettled: () => client.invalidateQueries({ queryKey: ["pools-board"] }),
  });
}

export function RefillDialog({ pool, onClose }: { readonly pool: PoolRow | null; readonly onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.refill_of", { pool: pool?.settings.name ?? "" })} size="xl">
      {pool && <Refill pool={pool} />}
    </Dialog>
  );
}

function Refill({ pool }: { readonly pool: PoolRow }) {
  const page = useQuery(refillQuery(pool.id));
  if (page.isPending) return <Loading />;
  if (page.isError && !page.data) return <ErrorState error={page.error} onRetry={() => void page.refetch()} />;
  return (
    <Stack gap="md">
      <RuleForm pool={pool.id} page={page.data} />
      <Planned pool={pool.id} page={page.data} />
      <Added page={page.data} />
    </Stack>
  );
}

function RuleForm({ pool, page }: { readonly pool: number; readonly page: RefillPage }) {
  const { t } = useI18n();
  const change = useRefillChange(pool);
  const [settings, setSettings] = useState(page.settings);
  const number = (name: "per_day" | "waiting_per_kind", value: number | string) =>
    setSettings({ ...settings, [name]: typeof value === "number" ? value : 1 });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ settings });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("pools.refill.help")}</Text>
        <Switch
          label={t("pools.refill.active")}
          checked={settings.active}
          onChange={(event) => setSettings({ ...settings, active: event.currentTarget.checked })}
        />
        <Group align="start" grow>
          <NumberInput
            label={t("pools.refill.per_day")}
            description={t("pools.refill.per_day.help", { count: page.added_in_24_hours })}
            value={settings.per_day}
            min={1}
            max={MAX_PER_DAY}
            allowDecimal={false}
            onChange={(value) => number("per_day", value)}
          />
          <NumberInput
            label={t("pools.refill.waiting")}
            description={t("pools.refill.waiting.help")}
            value={settings.waiting_per_kind}
            min={1}
            max={MAX_WAITING}
            allowDecimal={false}
            onChange={(value) => number("waiting_per_kind", value)}
          />
          <NumberInput
            label={t("pools.refill.need")}
            description={t("pools.refill.need.help")}
            value={settings.need_at_least}
            min={0}
            max={1}
            step={0.05}
            onChange={(value) => setSettings({ ...settings, need_at_least: typeof value === "number" ? value : 0 })}
          />
        </Group>
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            {t("pools.save")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Planned({ pool, page }: { readonly pool: number; readonly page: RefillPage }) {
  const { t, relative, rounded } = useI18n();
  const change = useRefillChange(pool);
  const count = page.planned.reduce((sum, wanted) => sum + wanted.count, 0);
  return (
    <section aria-labelledby="refill-planned">
      <Group justify="space-between">
        <Text id="refill-planned" component="h3" size="sm" fw={600}>
          {t("pools.refill.planned")}
        </Text>
        <Button
          variant="default"
          size="compact-sm"
          disabled={count === 0}
          loading={change.isPending || page.pending}
          onClick={() => change.mutate("now")}
        >
          {t("pools.refill.now", { count })}
        </Button>
      </Group>
      <Problem error={change.error} />
      {page.error !== "" && (
        <Text size="sm" role="status">
          {page.error}
        </Text>
      )}
      {page.planned.length === 0 ? (
        <Text size="sm">{t(page.reachable ? "pools.refill.planned.none" : "pools.refill.unreachable")}</Text>
      ) : (
        <DataTable
          rows={page.planned}
          keyOf={({ kind }) => `${kind.suite}/${kind.name} ${kind.level}`}
          columns={[
            { header: t("pools.refill.kind"), kind: "name", cell: ({ kind }) => t("pools.refill.kind.level", { ...kind, kind: `${kind.suite}/${kind.name}` }) },
            { header: t("pools.refill.why"), cell: (wanted) => <Why wanted={wanted} /> },
            { header: t("pools.refill.need"), kind: "number", cell: ({ need }) => rounded(need) },
            { header: t("pools.refill.tasks"), kind: "number", cell: ({ count: tasks }) => tasks },
          ]}
        />
      )}
      {page.looked_at && <Text size="xs">{t("pools.refill.looked_at", { when: relative(page.looked_at) })}</Text>}
    </section>
  );
}

function Why({ wanted }: { readonly wanted: WantedTasks }) {
  const { t } = useI18n();
  return <>{t(`pools.refill.why.${wanted.reason}`, { ...wanted.counts })}</>;
}

function Added({ page }: { readonly page: RefillPage }) {
  const { t } = useI18n();
  if (page.kinds.length === 0) return null;
  return (
    <section aria-labelledby="refill-added">
      <Text id="refill-added" component="h3" size="sm" fw={600}>
        {t("pools.refill.added")}
      </Text>
      <DataTable
        rows={page.kinds}
        keyOf={({ kind }) => kind}
        columns={[
          { header: t("pools.refill.kind"), kind: "name", cell: ({ kind }) => kind },
          { header: t("pools.refill.made"), kind: "number", cell: ({ made }) => made },
          { header: t("pools.refill.kept"), kind: "number", cell: ({ added }) => added },
          { header: t("pools.refill.done"), kind: "number", cell: ({ done }) => done },
          { header: t("pools.refill.solved"), kind: "number", cell: ({ solved }) => solved },
        ]}
      />
    </section>
  );
}
