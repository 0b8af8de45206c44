/** Which policies there are, how they do, and which of them proposes where. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolPolicies, RevisionSummary } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { poolsQuery, revisionsQuery } from "./api";
import { ChangeDialog } from "./change-dialog";
import { EditDialog } from "./edit-dialog";
import { GateDialog } from "./gate-dialog";
import { PoolTable, type PoolDialog } from "./pool-table";
import { RegisterDialog } from "./register-dialog";
import { RevisionTable } from "./revision-table";
import { StatesDialog } from "./states-dialog";

type Open =
  | { readonly what: PoolDialog; readonly pool: PoolPolicies }
  | { readonly what: "register"; readonly from: RevisionSummary | null }
  | { readonly what: "edit"; readonly revision: RevisionSummary }
  | null;

export const prefetch: Prefetch = ({ client }) => [client.query(revisionsQuery), client.query(poolsQuery)];

export default function PoliciesPage() {
  const { t } = useI18n();
  const revisions = useQuery(revisionsQuery);
  const pools = useQuery(poolsQuery);
  const failed = [revisions, pools].find((query) => query.isError && !query.data);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("policies.title") }]} />
      {failed && <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />}
      {!failed && !(revisions.data && pools.data) && <Loading />}
      {revisions.data && pools.data && <Registry revisions={revisions.data} pools={pools.data} />}
    </Page>
  );
}

type Props = { readonly revisions: readonly RevisionSummary[]; readonly pools: readonly PoolPolicies[] };

function Registry({ revisions, pools }: Props) {
  const { t } = useI18n();
  const admin = hasRole(useUser(), "admin");
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const poolOf = (what: PoolDialog) => (open?.what === what && "pool" in open ? open.pool : null);
  return (
    <>
      <Section title={t("policies.pools")}>
        {pools.length === 0 ? (
          <Empty title={t("policies.pools.none")} />
        ) : (
          <PoolTable pools={pools} revisions={revisions} readOnly={!admin} onOpen={(what, pool) => setOpen({ what, pool })} />
        )}
      </Section>
      <Section
        title={t("policies.revisions", { count: revisions.length })}
        aside={
          admin && (
            <Button variant="default" onClick={() => setOpen({ what: "register", from: null })}>
              {t("policies.register")}
            </Button>
          )
        }
      >
        {revisions.length === 0 ? (
          <Empty title={t("policies.none")}>{t("policies.none.help")}</Empty>
        ) : (
          <RevisionTable
            revisions={[...revisions.filter(({ retired }) => !retired), ...revisions.filter(({ retired }) => retired)]}
            readOnly={!admin}
            onEdit={(revision) => setOpen({ what: "edit", revision })}
            onCopy={(from) => setOpen({ what: "register", from })}
          />
        )}
      </Section>
      <ChangeDialog pool={poolOf("change")} revisions={revisions.filter(({ retired }) => !retired)} onClose={close} />
      <GateDialog pool={poolOf("gate")} onClose={close} />
      <StatesDialog pool={poolOf("states")} onClose={close} />
      <RegisterDialog opened={open?.what === "register"} from={open?.what === "register" ? open.from : null} onClose={close} />
      <EditDialog revision={open?.what === "edit" ? open.revision : null} onClose={close} />
    </>
  );
}
