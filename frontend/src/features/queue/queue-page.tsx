/** What to do now: resume, rework what came back, take the next task. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";

import type { NextIn, Queue } from "@/generated/api";
import { messageOf } from "@/shared/api/http";
import type { Prefetch } from "@/shared/api/prefetch";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { ConsentDialog, type Terms } from "@/shared/ui/consent-dialog";
import { CommandKey } from "@/shared/ui/key-hint";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { queueQuery, termsOf, useConsent, useNextTask } from "./api";
import { queueCommands } from "./commands";
import { CurrentList, RecentList, ReturnedList } from "./episode-lists";
import { PoolTable } from "./pool-table";

export const prefetch: Prefetch = ({ client }) => [client.query(queueQuery)];

export default function QueuePage() {
  const { t } = useI18n();
  const queue = useQuery(queueQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("queue.title") }]} />
      {queue.isPending && <Loading />}
      {queue.isError && !queue.data && <ErrorState error={queue.error} onRetry={() => void queue.refetch()} />}
      {queue.data && <QueueView queue={queue.data} />}
    </Page>
  );
}

/** Claims a task, and asks for agreement first where its pool wants that. */
function useClaim() {
  const { t } = useI18n();
  const navigate = useNavigate();
  const next = useNextTask();
  const consent = useConsent();
  const [pendingConsent, setPendingConsent] = useState<{ terms: Terms; claim: Partial<NextIn> } | null>(null);
  const fail = (error: Error) => notifications.show({ color: "red", message: messageOf(error, t).text });
  const decline = () => setPendingConsent(null);

  const take = (claim: Partial<NextIn>) =>
    next.mutate(claim, {
      onSuccess: ({ episode_id }) => {
        if (episode_id) void navigate(`/desk/${episode_id}`);
        else notifications.show({ message: t("queue.nothing_waits") });
      },
      onError: (error) => {
        const terms = termsOf(error);
        if (terms) setPendingConsent({ terms, claim });
        else fail(error);
      },
    });
  const agree = () => {
    if (pendingConsent) consent.mutate(pendingConsent.terms, { onSuccess: () => take(pendingConsent.claim), onError: fail, onSettled: decline });
  };
  return { take, agree, decline, pendingConsent: pendingConsent?.terms ?? null, busy: next.isPending || consent.isPending };
}

function QueueView({ queue }: { queue: Queue }) {
  const { t } = useI18n();
  const navigate = useNavigate();
  const { take, busy, pendingConsent, agree, decline } = useClaim();
  const open = queue.current[0];
  const waiting = queue.pools.filter(({ paused }) => !paused).reduce((sum, pool) => sum + pool.waiting, 0);
  const practice = queue.pools.some((pool) => pool.practice && pool.waiting > 0);

  useCommands([
    { command: queueCommands.next, enabled: !busy, run: () => take({}) },
    { command: queueCommands.resume, enabled: open !== undefined, run: () => open && void navigate(`/desk/${open.id}`) },
    { command: queueCommands.practice, enabled: practice && !busy, run: () => take({ practice: true }) },
  ]);

  return (
    <>
      <ConsentDialog terms={pendingConsent} busy={busy} onAgree={agree} onClose={decline} />
      <Section
        title={open ? t("queue.current") : t("queue.ready")}
        aside={
          <>
            {practice && (
              <Button variant="default" onClick={() => take({ practice: true })} rightSection={<CommandKey command={queueCommands.practice} />}>
                {t("queue.practice")}
              </Button>
            )}
            <Button
              variant={open ? "default" : "filled"}
              loading={busy}
              onClick={() => take({})}
              rightSection={<CommandKey command={queueCommands.next} />}
            >
              {t("queue.next")}
            </Button>
          </>
        }
      >
        {open ? (
          <CurrentList episodes={queue.current} />
        ) : (
          <Empty title={waiting > 0 ? t("queue.waiting", { count: waiting }) : t("queue.nothing_waits")}>
            {t(waiting > 0 ? "queue.ready.help" : "queue.nothing_waits.help")}
          </Empty>
        )}
      </Section>
      {queue.returned.length > 0 && (
        <Section title={t("queue.returned")}>
          <ReturnedList episodes={queue.returned} />
        </Section>
      )}
      <Section title={t("queue.pools")}>
        {queue.pools.length === 0 ? (
          <Empty title={t("queue.no_pools")}>{t("queue.no_pools.help")}</Empty>
        ) : (
          <PoolTable pools={queue.pools} busy={busy} onTake={(pool) => take({ pool_id: pool.id, practice: pool.practice })} />
        )}
      </Section>
      <Section title={t("queue.recent")}>
        {queue.recent.length === 0 ? <Empty title={t("queue.no_recent")} /> : <RecentList episodes={queue.recent} />}
      </Section>
    </>
  );
}
