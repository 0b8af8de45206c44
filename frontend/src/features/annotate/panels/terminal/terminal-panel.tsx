/** The machine's terminals: live sessions to look at, commands with their output, and a line that makes a step of what is written. */
import { Button, SegmentedControl, Switch, Tooltip } from "@mantine/core";
import { useState, type Ref } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { StatusDot } from "@/shared/ui/status-dot";
import { DEFAULT_LIMIT, TimeLimit } from "@/features/annotate/panels/time-limit";
import { completeCommand, completedLines } from "@/features/annotate/step/shell-completion";
import { useWorkspace } from "@/features/annotate/use-workspace";
import panel from "@/features/annotate/panels/panels.module.css";

import { LiveScreen } from "./live-screen";
import { Prompt } from "./prompt";
import { COMMANDS, nextNumber, historyOf, sessionName, sessionsOf, tabOf } from "./sessions";
import { Transcript } from "./transcript";
import { useTerminals, type Terminals } from "./use-terminals";

const INTERRUPT = "\u0003";

export function TerminalPanel() {
  const { episode, steps, canAct, perform, panelRef, focusOn, viewportRef } = useWorkspace();
  const { t } = useI18n();
  const interactive = episode.capabilities.includes("type_terminal");
  const terminals = useTerminals(episode.id, interactive);
  const [chosen, setChosen] = useState<{ tab: string; step: number } | null>(null);
  const [opened, setOpened] = useState<readonly string[]>([]);
  const [wantsRaw, setRaw] = useState(false);
  const [limit, setLimit] = useState<number>(DEFAULT_LIMIT.command);

  const sessions = interactive ? sessionsOf(steps, [...terminals.sessions, ...opened]) : [];
  const tab = tabOf(steps, chosen, sessions[0] ?? COMMANDS);
  const single = tab === COMMANDS;
  const raw = wantsRaw && canAct && !single;
  const choose = (value: string) => setChosen({ tab: value, step: steps.length });
  const open = () => {
    const name = sessionName(nextNumber(sessions));
    setOpened([...opened, name]);
    choose(name);
  };
  const type = (text: string) => perform({ kind: "type_terminal", session: tab, text });
  const submit = (line: string) => {
    if (!single) type(`${line}\n`);
    else if (line.trim() !== "") perform({ kind: "run_command", command: line, timeout: limit });
  };
  const line = single
    ? { sign: "$", label: t("terminal.command"), onInterrupt: null }
    : { sign: "›", label: t("terminal.type_into", { session: tab }), onInterrupt: () => type(INTERRUPT) };

  return (
    <div className={panel.column}>
      <div className={panel.bar}>
        <Sessions sessions={sessions} tab={tab} onTab={choose} onOpen={open} />
        <span className={panel.space} />
        {single ? (
          <TimeLimit value={limit} onChange={setLimit} />
        ) : (
          <Keys terminals={terminals} raw={raw} onRaw={setRaw} onInterrupt={() => type(INTERRUPT)} />
        )}
      </div>
      {single ? <Transcript /> : <LiveScreen key={`screen ${tab}`} session={tab} screens={terminals.screens} raw={raw} onRaw={setRaw} />}
      {!raw && (
        <Prompt
          key={`line ${tab}`}
          ref={panelRef as Ref<HTMLInputElement | null>}
          {...line}
          disabled={!canAct}
          history={historyOf(steps, tab)}
          onSubmit={submit}
          onComplete={async (line) => {
            const answer = await completeCommand(episode.id, line, single ? null : tab);
            return answer && { labels: answer.options, lines: completedLines(line, answer), more: answer.more };
          }}
          onLeave={() => focusOn(viewportRef)}
        />
      )}
    </div>
  );
}

interface SessionsProps {
  readonly sessions: readonly string[];
  readonly tab: string;
  readonly onTab: (tab: string) => void;
  readonly onOpen: () => void;
}

function Sessions({ sessions, tab, onTab, onOpen }: SessionsProps) {
  const { t } = useI18n();
  const { capabilities } = useWorkspace().episode;
  const commands = capabilities.includes("run_command") ? [{ value: COMMANDS, label: t("terminal.commands") }] : [];
  const tabs = [...sessions.map((name) => ({ value: name, label: name })), ...commands];
  return (
    <>
      <SegmentedControl aria-label={t("terminal.sessions")} value={tab} onChange={onTab} data={tabs} />
      {sessions.length > 0 && <Button size="compact-xs" variant="subtle" onClick={onOpen}>{t("terminal.new")}</Button>}
    </>
  );
}

interface KeysProps {
  readonly terminals: Terminals;
  readonly raw: boolean;
  readonly onRaw: (raw: boolean) => void;
  readonly onInterrupt: () => void;
}

/** How a session is written to, and whether it is seen live. */
function Keys({ terminals: { phase, problem }, raw, onRaw, onInterrupt }: KeysProps) {
  const { t } = useI18n();
  const { canAct } = useWorkspace();
  return (
    <>
      {phase === "connecting" && <StatusDot tone="busy" pulse><span title={problem}>{t("terminal.connecting")}</span></StatusDot>}
      <Tooltip label={t("terminal.raw.help")} multiline w={260}>
        <Switch size="xs" label={t("terminal.raw")} checked={raw} disabled={!canAct} onChange={(event) => onRaw(event.currentTarget.checked)} />
      </Tooltip>
      <Button size="compact-xs" variant="default" disabled={!canAct} onClick={onInterrupt}>Ctrl+C</Button>
    </>
  );
}
