/** Over a browser's picture: its address, its open pages, how the page stands, and its own time. */
import { ActionIcon, TextInput, Tooltip } from "@mantine/core";
import { ArrowLeft, Plug, X } from "lucide-react";
import { useRef, useState, type KeyboardEvent } from "react";

import type { Action, BrowserPage, Observation, Tab } from "@/generated/vocabulary";
import { viewedObservation } from "@/features/annotate/viewport/viewed-step";
import { useWorkspace, type Workspace } from "@/features/annotate/use-workspace";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { PageStatus } from "@/shared/ui/episode/page-status";

import { closePage, connectProgram, goBack, nextPage, previousPage, focusAddress } from "./commands";
import { PageClock } from "./page-clock";
import styles from "./browser.module.css";

/** Nothing for a machine that is no browser. */
export function BrowserBar() {
  const workspace = useWorkspace();
  const observation = viewedObservation(workspace);
  return observation?.page == null ? null : <Bar workspace={workspace} observation={observation} page={observation.page} />;
}

interface BarProps {
  readonly workspace: Workspace;
  readonly page: BrowserPage;
}

function Bar({ workspace, observation, page }: BarProps & { observation: Observation }) {
  const { t } = useI18n();
  const address = useRef<HTMLInputElement>(null);
  const { episode, canAct, viewedStep, perform } = workspace;
  const can = (kind: Action["kind"]) => canAct && viewedStep === null && episode.capabilities.includes(kind);
  const hasSeveralTabs = page.tabs.length > 1;
  const switchTab = (by: number) => {
    const to = page.tabs[(page.tabs.findIndex(({ active }) => active) + by + page.tabs.length) % page.tabs.length];
    if (to !== undefined) perform({ kind: "switch_page", page: to.id });
  };
  const selectAddress = () => {
    address.current?.focus();
    address.current?.select();
  };
  const connect = () => workspace.setDialog("program");
  useCommands([
    { command: connectProgram, enabled: canAct, run: connect },
    { command: goBack, enabled: can("navigate_back"), run: () => perform({ kind: "navigate_back" }) },
    { command: focusAddress, enabled: can("navigate"), run: selectAddress },
    { command: previousPage, enabled: hasSeveralTabs && can("switch_page"), run: () => switchTab(-1) },
    { command: nextPage, enabled: hasSeveralTabs && can("switch_page"), run: () => switchTab(1) },
    { command: closePage, enabled: hasSeveralTabs && can("close_page"), run: () => perform({ kind: "close_page", page: null }) },
  ]);
  return (
    <section className={styles.bar} aria-label={t("browser.bar")}>
      <div className={styles.row}>
        <Tooltip label={t("browser.back.help")}>
          <ActionIcon variant="default" aria-label={t("browser.back")} disabled={!can("navigate_back")} onClick={() => perform({ kind: "navigate_back" })}>
            <ArrowLeft size={16} />
          </ActionIcon>
        </Tooltip>
        <Address url={observation.url ?? ""} enabled={can("navigate")} field={address} go={(url) => perform({ kind: "navigate", url })} leave={() => workspace.viewportRef.current?.focus({ preventScroll: true })} />
        <PageStatus page={page} />
        <Tooltip label={t("browser.program.help")}>
          <ActionIcon variant="default" aria-label={t("browser.program")} disabled={!canAct} onClick={connect}>
            <Plug size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={styles.row}>
        {hasSeveralTabs ? <Tabs tabs={page.tabs} can={can} perform={perform} /> : <span className={styles.title}>{page.title}</span>}
        <PageClock workspace={workspace} page={page} />
      </div>
    </section>
  );
}

interface AddressProps {
  readonly url: string;
  readonly enabled: boolean;
  readonly field: React.RefObject<HTMLInputElement | null>;
  readonly go: (url: string) => void;
  readonly leave: () => void;
}

/** Enter opens what stands there, as a step like any other; Escape forgets what was typed. */
function Address({ url, enabled, field, go, leave }: AddressProps) {
  const { t } = useI18n();
  const [typed, setTyped] = useState<string | null>(null);
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const wanted = (typed ?? url).trim();
    if (event.key === "Enter" && wanted !== "") go(wanted);
    else if (event.key !== "Escape") return;
    else leave();
    setTyped(null);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <TextInput
      ref={field}
      className={styles.address}
      size="xs"
      aria-label={t("browser.address")}
      value={typed ?? url}
      disabled={!enabled}
      spellCheck={false}
      rightSection={<CommandKey command={focusAddress} />}
      rightSectionPointerEvents="none"
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={() => setTyped(null)}
      onKeyDown={key}
    />
  );
}

interface TabsProps {
  readonly tabs: readonly Tab[];
  readonly can: (kind: Action["kind"]) => boolean;
  readonly perform: Workspace["perform"];
}

function Tabs({ tabs, can, perform }: TabsProps) {
  const { t } = useI18n();
  return (
    <ul className={styles.tabs} aria-label={t("browser.pages")}>
      {tabs.map(({ id, title, url, active }) => (
        <li key={id} data-active={active || undefined}>
          <button
            type="button"
            className={styles.tab}
            aria-current={active ? "page" : undefined}
            disabled={active || !can("switch_page")}
            title={url}
            onClick={() => perform({ kind: "switch_page", page: id })}
          >
            {title || url}
          </button>
          <button
            type="button"
            className={styles.close}
            disabled={!can("close_page")}
            aria-label={t("action.close_page", { page: title || url })}
            onClick={() => perform({ kind: "close_page", page: id })}
          >
            <X size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
