/** Every machine and who has it: watch, take back, empty a host, set how many stand ready and how many one may hold. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import type { Fleet, FleetMachine } from "@/generated/api";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { fleetQuery, PREPARED_DAYS, preparedQuery } from "./api";
import { HostTable } from "./host-table";
import { ImageTable } from "./image-table";
import { LossTable } from "./loss-table";
import styles from "./machines.module.css";
import { MachineTable } from "./machine-table";
import { PreparedRequests } from "./prepared-table";
import { QueueTable } from "./queue-table";
import { QuotaDialog, QuotaTable } from "./quotas";
import { ReclaimDialog } from "./reclaim-dialog";
import { WatchDialog } from "./watch-dialog";

type Open = { readonly what: "watch" | "reclaim"; readonly machine: FleetMachine } | { readonly what: "quota" } | null;

export const prefetch: Prefetch = ({ client }) => [client.query(fleetQuery), client.query(preparedQuery)];

export default function MachinesPage() {
  const { t } = useI18n();
  const fleet = useQuery(fleetQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("machines.title") }]} />
      {fleet.isPending && <Loading />}
      {fleet.isError && !fleet.data && <ErrorState error={fleet.error} onRetry={() => void fleet.refetch()} />}
      {fleet.data && <Overview fleet={fleet.data} />}
    </Page>
  );
}

function Overview({ fleet }: { fleet: Fleet }) {
  const { t } = useI18n();
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const leased = fleet.machines.filter(({ state }) => state === "leased").length;
  return (
    <>
      <MissingImages missing={fleet.missing} />
      <Section title={t("machines.count", { count: fleet.machines.length, leased })}>
        <RowsOrEmpty rows={fleet.machines} none={t("machines.none")}>
          <MachineTable
            fleet={fleet}
            onWatch={(machine) => setOpen({ what: "watch", machine })}
            onReclaim={(machine) => setOpen({ what: "reclaim", machine })}
          />
        </RowsOrEmpty>
      </Section>
      <Section title={t("machines.queue")}>
        <RowsOrEmpty rows={fleet.queue} none={t("machines.queue.none")}>
          <QueueTable queue={fleet.queue} />
        </RowsOrEmpty>
      </Section>
      <Section title={t("machines.images")}>
        <ImageTable images={fleet.images} />
      </Section>
      <Section title={t("machines.hosts")}>
        <HostTable hosts={fleet.hosts} />
      </Section>
      <Section
        title={t("machines.quotas")}
        aside={
          <Button variant="default" onClick={() => setOpen({ what: "quota" })}>
            {t("machines.quota.add")}
          </Button>
        }
      >
        <RowsOrEmpty rows={fleet.quotas} none={t("machines.quotas.none")}>
          <QuotaTable quotas={fleet.quotas} />
        </RowsOrEmpty>
      </Section>
      <Section title={t("machines.prepared.title", { days: PREPARED_DAYS })}>
        <PreparedRequests />
      </Section>
      <Section title={t("machines.losses")}>
        <RowsOrEmpty rows={fleet.losses} none={t("machines.losses.none")}>
          <LossTable losses={fleet.losses} />
        </RowsOrEmpty>
      </Section>
      <WatchDialog machine={open?.what === "watch" ? open.machine : null} onClose={close} />
      <ReclaimDialog machine={open?.what === "reclaim" ? open.machine : null} onClose={close} />
      <QuotaDialog opened={open?.what === "quota"} onClose={close} />
    </>
  );
}

/** Images that pools need and no host makes: what begins there waits until one does. */
function MissingImages({ missing }: Pick<Fleet, "missing">) {
  const { t, language } = useI18n();
  if (missing.length === 0) return null;
  return (
    <ul className={styles.missing} role="alert">
      {missing.map(({ image, pools }) => (
        <li key={image}>{t("machines.missing", { image, pools: new Intl.ListFormat(language).format(pools) })}</li>
      ))}
    </ul>
  );
}

function RowsOrEmpty({ rows, none, children }: { rows: readonly unknown[]; none: string; children: ReactNode }) {
  return rows.length === 0 ? <Empty title={none} /> : children;
}
