/** The commands of the whole episode, each with its key. */
import { Tooltip, UnstyledButton } from "@mantine/core";

import type { Command } from "@/shared/commands/command";
import { useI18n } from "@/shared/i18n/i18n";
import { needsThoughtFirst } from "@/shared/steps";
import { CommandKey } from "@/shared/ui/key-hint";

import * as commands from "@/features/annotate/commands";
import { undoProblem } from "@/features/annotate/undo";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { isHeld } from "@/features/annotate/use-workspace-commands";
import styles from "./workspace.module.css";

export function WorkspaceFooter() {
  const { t } = useI18n();
  const { episode, steps, canAct, direct, send, setDialog, askOutcome, toggleDirect, view } = useWorkspace();
  const open = view.control === "mine" && (episode.status === "running" || episode.status === "paused");
  const problem = undoProblem(episode, steps);
  return (
    <div className={styles.footer} role="toolbar" aria-label={t("workspace.footer")}>
      <Item command={commands.finish} enabled={open} run={() => askOutcome("finish")} />
      <Item command={commands.infeasible} enabled={open} run={() => askOutcome("infeasible")} />
      <Item command={commands.callHelp} enabled={open} run={() => setDialog("help")} />
      <Item
        command={commands.undo}
        enabled={canAct && problem === null}
        reason={problem === null ? undefined : t(`refused.${problem}`)}
        run={() => send({ type: "undo" })}
      />
      <Item command={commands.takeover} enabled={canAct && !episode.takeover && episode.capabilities.includes("gesture")} run={() => send({ type: "takeover", on: true, thought: "" })} />
      <Item
        command={commands.autopilot}
        enabled={canAct && episode.thinking !== "off"}
        pressed={episode.autopilot}
        run={() => send({ type: "autopilot", on: !episode.autopilot })}
      />
      <Item command={commands.pause} enabled={open} pressed={episode.status === "paused"} run={() => send({ type: "pause", on: episode.status === "running" })} />
      <Item command={commands.leave} enabled={view.control === "mine" && isHeld(episode)} run={() => setDialog("leave")} />
      {!needsThoughtFirst(episode) && <Item command={commands.direct} enabled pressed={direct} run={toggleDirect} />}
    </div>
  );
}

interface ItemProps {
  readonly command: Command;
  readonly enabled: boolean;
  readonly pressed?: boolean;
  /** Why it cannot be done, instead of what it does. */
  readonly reason?: string | undefined;
  readonly run: () => void;
}

function Item({ command, enabled, pressed, reason, run }: ItemProps) {
  const { t } = useI18n();
  return (
    <Tooltip label={reason ?? t(command.help)}>
      <UnstyledButton className={styles.item} aria-disabled={!enabled} aria-pressed={pressed} onClick={() => enabled && run()}>
        <CommandKey command={command} /> {t(command.name)}
      </UnstyledButton>
    </Tooltip>
  );
}
