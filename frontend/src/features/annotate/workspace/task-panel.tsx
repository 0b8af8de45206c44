/** The instruction, and the pool's guidance when asked for. */
import { UnstyledButton } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { Markdown } from "@/shared/ui/markdown";

import { useWorkspace } from "@/features/annotate/use-workspace";
import styles from "./workspace.module.css";

/** An instruction longer than this (characters) is shown in part. */
const SHORT = 140;

export function TaskPanel() {
  const { t } = useI18n();
  const { task, instructions } = useWorkspace().episode;
  const [open, setOpen] = useState(false);
  const more = task.instruction.length > SHORT || instructions !== "";
  return (
    <section className={styles.task} aria-label={t("task.label")} data-open={open || undefined}>
      <p className={styles.instruction}>{task.instruction}</p>
      {open && instructions !== "" && (
        <div className={styles.guidance}>
          <Markdown text={instructions} />
        </div>
      )}
      {more && (
        <UnstyledButton className={styles.more} aria-expanded={open} onClick={() => setOpen(!open)}>
          {t(open ? "common.less" : "common.more")}
        </UnstyledButton>
      )}
    </section>
  );
}
