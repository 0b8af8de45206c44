/** Pools, as admins look after them: settings, tasks, who works where. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";

import type { Board, PoolRow } from "@/generated/api";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { boardQuery, useChange } from "./api";
import { AssignmentBoard } from "./assignment-board";
import { McpServersDialog } from "./mcp-servers-dialog";
import { PoolTable, type PoolDialog } from "./pool-table";
import { RefillDialog } from "./refill-dialog";
import { SecretsDialog } from "./secrets-dialog";
import { SettingsDialog } from "./settings-form";
import { StopDialog } from "./stop-dialog";
import { TasksDialog } from "./tasks-dialog";
import { BulkEditBar } from "./bulk-edit";

export const prefetch: Prefetch = ({ client }) => [client.query(boardQuery)];

export default function PoolsPage() {
  const { t } = useI18n();
  const board = useQuery(boardQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("pools.title") }]} />
      {board.isPending && <Loading />}
      {board.isError && !board.data && <ErrorState error={board.error} onRetry={() => void board.refetch()} />}
      {board.data && <Pools board={board.data} />}
    </Page>
  );
}

type Open = { readonly what: PoolDialog; readonly id: number } | { readonly what: "new" | "together" } | null;

function Pools({ board }: { readonly board: Board }) {
  const { t } = useI18n();
  const change = useChange();
  const [open, setOpen] = useState<Open>(null);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const close = () => setOpen(null);
  const { pools } = board;
  const assigned = useDeferredValue(board, null); // the list of pools is shown before the board below it
  const poolOf = (what: PoolDialog) => (open?.what === what && "id" in open ? (pools.find(({ id }) => id === open.id) ?? null) : null);
  const those = pools.filter(({ id }) => chosen.has(id));
  const edited = poolOf("edit");
  const settingsOf = open?.what === "together" ? those : edited ? [edited] : [];
  const choose = (pool: PoolRow, on: boolean) => setChosen(new Set([...chosen].filter((id) => id !== pool.id).concat(on ? pool.id : [])));
  return (
    <>
      <Section
        title={t("pools.title")}
        aside={
          <Button onClick={() => setOpen({ what: "new" })} variant="default">
            {t("pools.new")}
          </Button>
        }
      >
        {those.length > 0 && (
          <BulkEditBar
            pools={those}
            all={pools.length}
            onEdit={() => setOpen({ what: "together" })}
            onAll={() => setChosen(new Set(pools.map(({ id }) => id)))}
            onNone={() => setChosen(new Set())}
          />
        )}
        <Problem error={change.error} />
        {pools.length === 0 ? (
          <Empty title={t("pools.none")}>{t("pools.none.help")}</Empty>
        ) : (
          <PoolTable
            pools={pools}
            missing={board.missing_suites}
            chosen={chosen}
            onChoose={choose}
            onOpen={(what, { id }) => setOpen({ what, id })}
            onStart={({ id }) => change.mutate({ type: "start", pool: id })}
          />
        )}
      </Section>
      <Section title={t("pools.board")}>
        {assigned && <AssignmentBoard board={assigned} />}
      </Section>
      <SettingsDialog
        opened={open?.what === "new" || open?.what === "edit" || open?.what === "together"}
        pools={settingsOf}
        onClose={close}
      />
      <TasksDialog pool={poolOf("tasks")} onClose={close} />
      <RefillDialog pool={poolOf("refill")} onClose={close} />
      <SecretsDialog pool={poolOf("secrets")} onClose={close} />
      <McpServersDialog pool={poolOf("mcp")} onClose={close} />
      <StopDialog pool={poolOf("stop")} onClose={close} />
    </>
  );
}
