/** While an act of a panel runs: for how long, and the way to cut it short. */
import { Button } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { StatusDot } from "@/shared/ui/status-dot";
import { skipSettle } from "@/features/annotate/commands";
import { useNow } from "@/features/annotate/states/use-now";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { panelFor } from "./panels";
import styles from "./dock.module.css";

export function RunningAction() {
  const { pending } = useWorkspace().episode;
  return (
    <div className={styles.running}>
      {pending !== null && panelFor(pending.action) !== null && <Progress since={Date.parse(pending.started_at)} />}
    </div>
  );
}

function Progress({ since }: { since: number }) {
  const { t, duration } = useI18n();
  const { canAct, send } = useWorkspace();
  const elapsed = Math.max(0, useNow() - since);
  return (
    <>
      <StatusDot tone="busy" pulse>{elapsed < 1_000 ? t("panel.running") : t("panel.running_for", { time: duration(elapsed) })}</StatusDot>
      <Button
        size="compact-xs"
        variant="default"
        disabled={!canAct}
        onClick={() => send({ type: "hurry" })}
        rightSection={<CommandKey command={skipSettle} />}
      >
        {t("panel.cut")}
      </Button>
    </>
  );
}
