/** Keys to hold during a click, drag or scroll, and keys that earlier steps left down. */
import { Tooltip, UnstyledButton } from "@mantine/core";

import { HOLDABLE_KEYS, keysLeftDown } from "@/shared/actions/held";
import { formatKeys } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { holdKeys } from "@/features/annotate/commands";
import { useWorkspace } from "@/features/annotate/use-workspace";

import styles from "./step.module.css";

export function HeldKeys() {
  const { t } = useI18n();
  const { episode, steps, heldKeys, canAct, toggleHeldKey, perform } = useWorkspace();
  if (!episode.capabilities.includes("mouse_click")) return null;
  return (
    <div className={styles.held} role="group" aria-label={t("step.held")}>
      <span>{t("step.held")}</span>
      {HOLDABLE_KEYS.map((key) => (
        <Tooltip key={key} label={<>{t(`workspace.hold_${key}`)} <CommandKey command={holdKeys[key]} /></>}>
          <UnstyledButton
            className={styles.heldKey}
            aria-pressed={heldKeys.includes(key)}
            disabled={!canAct}
            onClick={() => toggleHeldKey(key)}
          >
            {formatKeys([key])}
          </UnstyledButton>
        </Tooltip>
      ))}
      {keysLeftDown(steps).map((key) => (
        <UnstyledButton key={`down-${key}`} className={styles.leftDown} disabled={!canAct} onClick={() => perform({ kind: "release", key })}>
          {t("step.left_down", { keys: formatKeys([key]) })}
        </UnstyledButton>
      ))}
    </div>
  );
}
