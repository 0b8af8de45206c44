/** A page's own time: how much has passed, how fast it goes between two steps, and waiting as a step. */
import { Button, NativeSelect, SegmentedControl, Tooltip } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { CirclePause, CirclePlay } from "lucide-react";

import type { BrowserPage } from "@/generated/vocabulary";
import type { Workspace } from "@/features/annotate/use-workspace";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

import { changePace, waitOn } from "./commands";
import styles from "./browser.module.css";

/** Milliseconds one wait can take. */
const WAITS = [50, 100, 250, 500, 1_000, 2_000, 5_000] as const;
const DEFAULT_WAIT = 500;
/** How fast time can go between two steps: 0 is what the policy sees. */
const RATES = [0, 0.5, 1, 2] as const;

export function PageClock({ workspace, page }: { workspace: Workspace; page: BrowserPage }) {
  const { t, duration } = useI18n();
  const [wait, setWait] = useLocalStorage<number>({ key: "pilothouse.wait", defaultValue: DEFAULT_WAIT });
  const { episode, viewedStep, send, perform } = workspace;
  const free = workspace.canAct && viewedStep === null;
  const isSimulated = page.clock !== "real";
  const hasPace = (workspace.canAct || episode.takeover) && workspace.view.control === "mine" && viewedStep === null && isSimulated;
  const pass = () => perform({ kind: "wait", seconds: wait / 1_000 });
  const setPace = (rate: number) => send({ type: "pace", rate });
  useCommands([
    { command: waitOn, enabled: free && episode.capabilities.includes("wait"), run: pass },
    { command: changePace, enabled: hasPace, run: () => setPace(page.pace > 0 ? 0 : 1) },
  ]);
  const Icon = page.pace > 0 || !isSimulated ? CirclePlay : CirclePause;
  return (
    <div className={styles.clock} role="group" aria-label={t("browser.time")}>
      <Tooltip label={t(`browser.clock.${page.clock}.help`)}>
        <span className={styles.time}>
          <Icon size={14} aria-hidden /> {duration(page.time_ms)} <small>{t(describePace(page))}</small>
        </span>
      </Tooltip>
      {isSimulated && (
        <Tooltip label={t("browser.pace.help")}>
          <SegmentedControl
            size="xs"
            aria-label={t("browser.pace")}
            disabled={!hasPace}
            value={String(page.pace)}
            onChange={(value) => setPace(Number(value))}
            data={RATES.map((rate) => ({ value: String(rate), label: rate === 0 ? t("browser.pace.still") : `${rate}×` }))}
          />
        </Tooltip>
      )}
      <span className={styles.wait}>
        <Button size="compact-xs" variant="default" disabled={!free} title={t("browser.wait.help")} onClick={pass} rightSection={<CommandKey command={waitOn} />}>
          {t("browser.wait")}
        </Button>
        <NativeSelect
          size="xs"
          aria-label={t("browser.wait.length")}
          value={String(wait)}
          onChange={(event) => setWait(Number(event.currentTarget.value))}
          data={WAITS.map((ms) => ({ value: String(ms), label: duration(ms) }))}
        />
      </span>
    </div>
  );
}

/** Whether its time goes on while nobody acts. */
function describePace({ pace, clock }: BrowserPage) {
  if (clock === "real") return "browser.pace.real";
  return pace > 0 ? "browser.pace.running" : "browser.pace.frozen";
}
