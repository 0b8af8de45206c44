/** What became of a trajectory: the cycles that took it in, where it went and why, and the weights that learned from it. */
import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import type { TrajectoryLineage } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";

import { trainingUsesQuery } from "./api";
import styles from "./flywheel.module.css";
import { trainingName } from "./figures";

/** Nothing for users who may not see flywheels, and for a trajectory that no cycle took in. */
export function TrainingUses({ episodeId }: { episodeId: string }) {
  const canView = hasRole(useUser(), "researcher");
  const { t } = useI18n();
  const { data, error } = useQuery({ ...trainingUsesQuery(episodeId), enabled: canView });
  if (error) return <Problem error={error} />;
  if (!data || data.length === 0) return null;
  return (
    <section className={styles.trainingUses} aria-label={t("flywheel.training_uses")}>
      <h2>{t("flywheel.training_uses")}</h2>
      {data.map((one) => (
        <CycleUse key={one.turn_id} lineage={one} />
      ))}
    </section>
  );
}

function CycleUse({ lineage: { wheel: flywheel, turn: cycle, turn_id: cycleId, sample, taught: checkpoints } }: { lineage: TrajectoryLineage }) {
  const { t, number } = useI18n();
  return (
    <div>
      <Anchor component={Link} to={`/flywheel/${cycleId}`} size="sm">
        {t("flywheel.cycle_of", { number: cycle, flywheel })}
      </Anchor>{" "}
      {sample.route && <Badge tone={sample.route === "none" ? "neutral" : "ok"}>{t(`flywheel.route.${sample.route}`)}</Badge>}{" "}
      <span className={styles.quiet}>
        {sample.reason && t(`flywheel.reason.${sample.reason}`)}
        {sample.value !== null && ` · ${t("flywheel.value")} ${number(sample.value, 2)}`}
      </span>
      {checkpoints.length > 0 && (
        <ul>
          {checkpoints.map(({ checkpoint, source }) => (
            <li key={checkpoint.id}>
              {t("flywheel.cycle_named", { number: checkpoint.turn })} · {trainingName(checkpoint, t)} ·{" "}
              <code title={checkpoint.path}>{checkpoint.sha256.slice(0, 12)}</code> {checkpoint.revision}{" "}
              <span className={styles.quiet}>{t(`flywheel.source.${source}`)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
