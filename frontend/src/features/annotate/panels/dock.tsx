/** The panels in their place: under the picture, or where the machine has no screen, instead of it. */
import { ActionIcon, Tabs, Tooltip } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { AppWindow, FolderOpen, Maximize2, Minimize2, NotebookPen, SquareTerminal, Wrench, X, type LucideIcon } from "lucide-react";
import { useState, type ComponentType, type KeyboardEvent, type PointerEvent } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { panels as commands } from "@/features/annotate/commands";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { FilePanel } from "./files/file-panel";
import { NotebookPanel } from "./notebook/notebook-panel";
import { hasScreen, availablePanels, PANELS, type PanelName } from "./panels";
import { PreviewPanel } from "./preview/preview-panel";
import { RunningAction } from "./running-action";
import { TerminalPanel } from "./terminal/terminal-panel";
import { ToolPanel } from "./tools/tool-panel";
import styles from "./dock.module.css";

const ICONS: Readonly<Record<PanelName, LucideIcon>> = {
  terminal: SquareTerminal,
  files: FolderOpen,
  notebook: NotebookPen,
  tools: Wrench,
  preview: AppWindow,
};

const CONTENTS: Readonly<Record<PanelName, ComponentType>> = {
  terminal: TerminalPanel,
  files: FilePanel,
  notebook: NotebookPanel,
  tools: ToolPanel,
  preview: PreviewPanel,
};

/** Share of the stage a panel takes (per cent). */
const DEFAULT_HEIGHT = 46;
const MIN_HEIGHT = 25;
const MAX_HEIGHT = 80;
const HEIGHT_STEP = 5;

/** The open panel beside a picture; nothing while none is open. */
export function PanelDrawer() {
  const { t } = useI18n();
  const { episode, panel } = useWorkspace();
  const [height, setHeight] = useLocalStorage({ key: "pilothouse.panel", defaultValue: DEFAULT_HEIGHT });
  const [whole, setWhole] = useState(false);
  if (panel === null || !hasScreen(episode)) return null;
  const Icon = whole ? Minimize2 : Maximize2;
  const size = (
    <ActionIcon size="sm" aria-label={t(whole ? "panel.smaller" : "panel.larger")} onClick={() => setWhole(!whole)}>
      <Icon size={14} />
    </ActionIcon>
  );
  return (
    <div className={styles.drawer} style={{ height: `${whole ? 100 : height}%` }}>
      {!whole && <Handle height={height} onHeight={setHeight} />}
      <PanelDock panel={panel}>{size}</PanelDock>
    </div>
  );
}

/** The panels of a machine without a screen. */
export function PanelDock({ panel, children }: { panel: PanelName; children?: React.ReactNode }) {
  const { t } = useI18n();
  const { episode, showPanel } = useWorkspace();
  const Content = CONTENTS[panel];
  const available = availablePanels(episode);
  return (
    <Tabs
      className={styles.dock}
      data-panel
      value={panel}
      onChange={(value) => showPanel(PANELS.find((name) => name === value) ?? null)}
      activateTabWithKeyboard={false}
      keepMounted={false}
    >
      <div className={styles.head}>
        <Tabs.List aria-label={t("panel.label")} className={styles.tabs}>
          {available.map((name) => {
            const Icon = ICONS[name];
            return (
              <Tabs.Tab key={name} value={name} leftSection={<Icon size={14} />} rightSection={<CommandKey command={commands[name]} />}>
                {t(`panel.${name}`)}
              </Tabs.Tab>
            );
          })}
        </Tabs.List>
        <RunningAction />
        {children}
        {hasScreen(episode) && (
          <ActionIcon size="sm" aria-label={t("panel.close")} onClick={() => showPanel(null)}>
            <X size={15} />
          </ActionIcon>
        )}
      </div>
      <Tabs.Panel value={panel} className={styles.content}>
        <Content />
      </Tabs.Panel>
    </Tabs>
  );
}

/** Beside the timeline: opens each panel this machine has. */
export function PanelButtons() {
  const { t } = useI18n();
  const { episode, panel, showPanel } = useWorkspace();
  const available = availablePanels(episode);
  if (available.length === 0 || !hasScreen(episode)) return null;
  return (
    <div className={styles.buttons} role="group" aria-label={t("panel.label")}>
      {available.map((name) => {
        const Icon = ICONS[name];
        return (
          <Tooltip key={name} label={<>{t(`panel.${name}`)} <CommandKey command={commands[name]} /></>}>
            <ActionIcon
              aria-label={t(`panel.${name}`)}
              aria-pressed={panel === name}
              variant={panel === name ? "light" : "subtle"}
              onClick={() => showPanel(panel === name ? null : name)}
            >
              <Icon size={17} />
            </ActionIcon>
          </Tooltip>
        );
      })}
    </div>
  );
}

/** The edge that is dragged, or moved with the arrow keys. */
function Handle({ height, onHeight }: { height: number; onHeight: (height: number) => void }) {
  const { t } = useI18n();
  const set = (value: number) => onHeight(Math.round(Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, value))));
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const room = event.currentTarget.parentElement?.parentElement?.getBoundingClientRect();
    if (room && event.currentTarget.hasPointerCapture(event.pointerId)) set(((room.bottom - event.clientY) * 100) / room.height);
  };
  const key = (event: KeyboardEvent) => {
    const change = { ArrowUp: HEIGHT_STEP, ArrowDown: -HEIGHT_STEP }[event.key];
    if (change === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(height + change);
  };
  return (
    <div
      className={styles.handle}
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label={t("panel.resize")}
      aria-valuenow={height}
      aria-valuemin={MIN_HEIGHT}
      aria-valuemax={MAX_HEIGHT}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={key}
    />
  );
}
