/** The flywheel: each wheel's turns, what went where, and whether what came of it proposes now. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { WheelOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { useChange, wheelsQuery } from "./api";
import styles from "./flywheel.module.css";
import { RateChart } from "./rate-chart";
import { TurnTable } from "./cycle-table";

export default function FlywheelPage() {
  const { t } = useI18n();
  const wheels = useQuery(wheelsQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("flywheel.title") }]} />
      {wheels.isPending && <Loading />}
      {wheels.isError && !wheels.data && <ErrorState error={wheels.error} onRetry={() => void wheels.refetch()} />}
      {wheels.data?.length === 0 && <Empty title={t("flywheel.none")}>{t("flywheel.none.help")}</Empty>}
      {wheels.data?.map((wheel) => <Wheel key={wheel.id} wheel={wheel} />)}
    </Page>
  );
}

function Wheel({ wheel }: { wheel: WheelOut }) {
  const { t } = useI18n();
  const change = useChange();
  const turning = wheel.turns.some(({ state }) => state === "running");
  const clock = wheel.every_hours === null ? t("flywheel.by_hand") : t("flywheel.every", { count: wheel.every_hours });
  return (
    <Section
      title={wheel.name}
      aside={
        hasRole(useUser(), "admin") && (
          <Button
            size="compact-sm"
            disabled={turning}
            loading={change.isPending}
            aria-label={t("flywheel.turn_one", { wheel: wheel.name })}
            onClick={() => change.mutate({ do: "turn", wheel: wheel.id })}
          >
            {t("flywheel.turn")}
          </Button>
        )
      }
    >
      <p className={styles.note}>
        {t("flywheel.of", { pool: wheel.pool, policy: wheel.recipe.policy })} · {clock}
      </p>
      <Problem error={change.error} />
      {wheel.turns.length === 0 ? (
        <Empty title={t("flywheel.no_turns")}>{t("flywheel.no_turns.help")}</Empty>
      ) : (
        <>
          <RateChart turns={wheel.turns} />
          <TurnTable wheel={wheel} />
        </>
      )}
    </Section>
  );
}
