/** Each flywheel with its cycles: the routes of samples, the gate's verdict, and whether the result proposes now. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { WheelOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Page, Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { useChange, flywheelsQuery } from "./api";
import { CycleCurves } from "./cycle-curves";
import { FlywheelDialog } from "./flywheel-dialog";
import styles from "./flywheel.module.css";
import { RateChart } from "./rate-chart";
import { CycleTable } from "./cycle-table";

export const prefetch: Prefetch = ({ client }) => [client.query(flywheelsQuery)];

export default function FlywheelPage() {
  const { t } = useI18n();
  const flywheels = useQuery(flywheelsQuery);
  const isAdmin = hasRole(useUser(), "admin");
  const [edited, setEdited] = useState<number | "new" | null>(null);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("flywheel.title") }]} />
      {flywheels.isPending && <Loading />}
      {flywheels.isError && !flywheels.data && <ErrorState error={flywheels.error} onRetry={() => void flywheels.refetch()} />}
      {isAdmin && (
        <div className={styles.actions}>
          <Button size="compact-sm" onClick={() => setEdited("new")}>
            {t("flywheel.new")}
          </Button>
        </div>
      )}
      <FlywheelDialog
        opened={edited !== null}
        flywheel={edited === "new" ? undefined : flywheels.data?.find(({ id }) => id === edited)}
        onClose={() => setEdited(null)}
      />
      {flywheels.data?.length === 0 && <Empty title={t("flywheel.none")}>{t("flywheel.none.help")}</Empty>}
      {flywheels.data?.map((flywheel) => (
        <FlywheelSection key={flywheel.id} flywheel={flywheel} onEdit={() => setEdited(flywheel.id)} />
      ))}
    </Page>
  );
}

function FlywheelSection({ flywheel, onEdit }: { flywheel: WheelOut; onEdit: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const running = flywheel.turns.some(({ state }) => state === "running");
  const clock = flywheel.every_hours === null ? t("flywheel.manual") : t("flywheel.every", { count: flywheel.every_hours });
  return (
    <Section
      title={flywheel.name}
      aside={
        hasRole(useUser(), "admin") && (
          <div className={styles.actions}>
            {flywheel.turns.length === 0 && (
              <ConfirmButton
                label={t("flywheel.delete")}
                ariaLabel={t("flywheel.delete_one", { flywheel: flywheel.name })}
                confirmation={t("flywheel.delete.sure", { flywheel: flywheel.name })}
                size="compact-sm"
                onConfirm={() => change.mutateAsync({ type: "delete", flywheel: flywheel.id })}
              />
            )}
            <Button variant="default" size="compact-sm" aria-label={t("flywheel.edit_one", { flywheel: flywheel.name })} onClick={onEdit}>
              {t("flywheel.edit")}
            </Button>
            <Button
              size="compact-sm"
              disabled={running}
              loading={change.isPending}
              aria-label={t("flywheel.run_one", { flywheel: flywheel.name })}
              onClick={() => change.mutate({ type: "turn", flywheel: flywheel.id })}
            >
              {t("flywheel.run")}
            </Button>
          </div>
        )
      }
    >
      <p className={styles.note}>
        {t("flywheel.of", { pool: [flywheel.pool, ...flywheel.recipe.pools].join(", "), policy: flywheel.recipe.policy })} · {clock}
      </p>
      <Problem error={change.error} />
      {flywheel.turns.length === 0 ? (
        <Empty title={t("flywheel.no_cycles")}>{t("flywheel.no_cycles.help")}</Empty>
      ) : (
        <>
          <RateChart cycles={flywheel.turns} />
          <CycleCurves cycles={flywheel.turns} />
          <CycleTable flywheel={flywheel} />
        </>
      )}
    </Section>
  );
}
