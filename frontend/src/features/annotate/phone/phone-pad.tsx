/** Beside a phone's picture: its buttons and its apps, each one key or one click away. */
import { TextInput } from "@mantine/core";
import { ChevronLeft, Circle, Search } from "lucide-react";
import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import type { Action } from "@/generated/vocabulary";
import { useWorkspace, type Workspace } from "@/features/annotate/use-workspace";
import type { Command } from "@/shared/commands/command";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

import { appsMatching, useApps } from "./apps";
import { openApp, pressBack, pressHome } from "./commands";
import styles from "./phone.module.css";

/** Nothing for a machine that is no phone. */
export function PhonePad() {
  const workspace = useWorkspace();
  return workspace.episode.task.platform === "phone" ? <Pad workspace={workspace} /> : null;
}

function Pad({ workspace }: { workspace: Workspace }) {
  const { t } = useI18n();
  const { episode, canAct, viewedStep, perform } = workspace;
  const filter = useRef<HTMLInputElement>(null);
  const can = (kind: Action["kind"]) => canAct && viewedStep === null && episode.capabilities.includes(kind);
  useCommands([
    { command: pressHome, enabled: can("press_home"), run: () => perform({ kind: "press_home" }) },
    { command: pressBack, enabled: can("press_back"), run: () => perform({ kind: "press_back" }) },
    { command: openApp, enabled: can("open_app"), run: () => filter.current?.focus() },
  ]);
  return (
    <section className={styles.pad} aria-label={t("phone.pad")}>
      <div className={styles.buttons}>
        <PadButton command={pressBack} enabled={can("press_back")} run={() => perform({ kind: "press_back" })} sign={<ChevronLeft size={18} />} />
        <PadButton command={pressHome} enabled={can("press_home")} run={() => perform({ kind: "press_home" })} sign={<Circle size={14} />} />
      </div>
      {episode.capabilities.includes("open_app") && <AppList workspace={workspace} enabled={can("open_app")} filter={filter} />}
    </section>
  );
}

interface ButtonProps {
  readonly command: Command;
  readonly enabled: boolean;
  readonly run: () => void;
  readonly sign: ReactNode;
}

function PadButton({ command, enabled, run, sign }: ButtonProps) {
  const { t } = useI18n();
  return (
    <button type="button" className={styles.button} disabled={!enabled} onClick={run} title={t(command.help)}>
      {sign}
      {t(command.name)}
      <CommandKey command={command} />
    </button>
  );
}

interface AppListProps {
  readonly workspace: Workspace;
  readonly enabled: boolean;
  readonly filter: React.RefObject<HTMLInputElement | null>;
}

/** Typing narrows the list, Enter opens the first one; a name that is not listed is tried as it was typed. */
function AppList({ workspace, enabled, filter }: AppListProps) {
  const { t } = useI18n();
  const [typed, setTyped] = useState("");
  const found = appsMatching(useApps(workspace.episode), typed);
  const start = (name: string) => {
    setTyped("");
    workspace.perform({ kind: "open_app", name });
  };
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const name = found[0] ?? typed.trim();
    if (event.key === "Escape") {
      setTyped("");
      workspace.viewportRef.current?.focus({ preventScroll: true });
    } else if (event.key === "Enter" && typed.trim() !== "") start(name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.apps}>
      <TextInput
        ref={filter}
        size="xs"
        aria-label={t("phone.apps")}
        placeholder={t("phone.apps")}
        leftSection={<Search size={13} />}
        rightSection={<CommandKey command={openApp} />}
        rightSectionPointerEvents="none"
        value={typed}
        disabled={!enabled}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={key}
      />
      <ul>
        {found.map((name) => (
          <li key={name}>
            <button type="button" disabled={!enabled} onClick={() => start(name)}>
              {name}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>{t(typed === "" ? "phone.apps.none" : "phone.apps.typed")}</p>}
    </div>
  );
}
