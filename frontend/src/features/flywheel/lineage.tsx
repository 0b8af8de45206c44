/** What a checkpoint comes of: the weights before it, and the trajectories it was trained on, each with its reason. */
import { useQuery } from "@tanstack/react-query";

import { useI18n } from "@/shared/i18n/i18n";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { lineageQuery } from "./api";
import styles from "./flywheel.module.css";
import { SampleTable } from "./samples";
import { trainingName } from "./figures";

export function Lineage({ checkpoint }: { checkpoint: number }) {
  const { t } = useI18n();
  const lineage = useQuery(lineageQuery(checkpoint));
  if (lineage.isPending) return <Loading />;
  if (lineage.isError) return <ErrorState error={lineage.error} onRetry={() => void lineage.refetch()} />;
  const { ancestors, uses, next } = lineage.data;
  const before = ancestors.map(({ turn: cycle, phase, domain, sha256 }) =>
    [t("flywheel.cycle_named", { number: cycle }), trainingName({ phase, domain }, t), sha256.slice(0, 12)].join(" "),
  );
  return (
    <>
      <p className={styles.note}>{before.length === 0 ? t("flywheel.no_ancestors") : t("flywheel.ancestors", { list: before.join(" ← ") })}</p>
      {uses.length === 0 ? (
        <Empty title={t("flywheel.no_training_samples")} />
      ) : (
        <SampleTable samples={uses.map(({ sample }) => sample)} />
      )}
      {next !== null && <p className={styles.note}>{t("flywheel.more_by_api")}</p>}
    </>
  );
}
