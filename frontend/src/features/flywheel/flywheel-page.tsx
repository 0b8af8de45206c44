/** Each flywheel with its cycles: the routes of samples, the gate's verdict, and whether the result proposes now. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { WheelOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { useChange, flywheelsQuery } from "./api";
import styles from "./flywheel.module.css";
import { RateChart } from "./rate-chart";
import { CycleTable } from "./cycle-table";

export default function FlywheelPage() {
  const { t } = useI18n();
  const flywheels = useQuery(flywheelsQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("flywheel.title") }]} />
      {flywheels.isPending && <Loading />}
      {flywheels.isError && !flywheels.data && <ErrorState error={flywheels.error} onRetry={() => void flywheels.refetch()} />}
      {flywheels.data?.length === 0 && <Empty title={t("flywheel.none")}>{t("flywheel.none.help")}</Empty>}
      {flywheels.data?.map((flywheel) => <FlywheelSection key={flywheel.id} flywheel={flywheel} />)}
    </Page>
  );
}

function FlywheelSection({ flywheel }: { flywheel: WheelOut }) {
  const { t } = useI18n();
  const change = useChange();
  const running = flywheel.turns.some(({ state }) => state === "running");
  const clock = flywheel.every_hours === null ? t("flywheel.manual") : t("flywheel.every", { count: flywheel.every_hours });
  return (
    <Section
      title={flywheel.name}
      aside={
        hasRole(useUser(), "admin") && (
          <Button
            size="compact-sm"
            disabled={running}
            loading={change.isPending}
            aria-label={t("flywheel.run_one", { flywheel: flywheel.name })}
            onClick={() => change.mutate({ type: "turn", flywheel: flywheel.id })}
          >
            {t("flywheel.run")}
          </Button>
        )
      }
    >
      <p className={styles.note}>
        {t("flywheel.of", { pool: flywheel.pool, policy: flywheel.recipe.policy })} · {clock}
      </p>
      <Problem error={change.error} />
      {flywheel.turns.length === 0 ? (
        <Empty title={t("flywheel.no_cycles")}>{t("flywheel.no_cycles.help")}</Empty>
      ) : (
        <>
          <RateChart cycles={flywheel.turns} />
          <CycleTable flywheel={flywheel} />
        </>
      )}
    </Section>
  );
}
