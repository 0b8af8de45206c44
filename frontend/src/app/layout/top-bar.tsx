/** Where one is, what the page says, and the few controls of every page. */
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { CircleQuestionMark, LogOut, Moon, Settings, ShieldCheck, Sun, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useMatch } from "react-router";

import { PageCallsButton } from "@/app/page-calls/page-calls-button";
import { Bell } from "@/features/notices/bell";
import { useUser } from "@/shared/account/account";
import { usePreferences } from "@/shared/account/preferences";
import type { Command } from "@/shared/commands/command";
import { globalCommands } from "@/shared/commands/global";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { LogoMark } from "@/shared/ui/logo";
import { PathSlot, StatusSlot } from "@/shared/ui/top-bar";

import styles from "./layout.module.css";
import { Navigation } from "./navigation";
import { useNextTheme } from "./use-next-theme";

export function TopBar({ onHelp, onSignOut }: { onHelp: () => void; onSignOut: () => void }) {
  const { language } = useI18n();
  const { change } = usePreferences();
  const nextTheme = useNextTheme();
  const inWorkspace = useMatch("/desk/:id") !== null;
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.home}>
        <LogoMark />
        <span className={styles.brand}>Pilothouse</span>
      </Link>
      <div className={styles.place}>
        <PathSlot />
      </div>
      <StatusSlot />
      {!inWorkspace && <Navigation />}
      <div className={styles.tools}>
        <Bell />
        <PageCallsButton />
        <Tool command={globalCommands.help} onClick={onHelp}>
          <CircleQuestionMark size={16} />
        </Tool>
        <Tool command={globalCommands.theme} onClick={() => void change({ theme: nextTheme })}>
          {nextTheme === "dark" ? <Moon size={16} /> : <Sun size={16} />}
        </Tool>
        <Tool
          command={globalCommands.language}
          onClick={() => void change({ language: language === "en" ? "zh" : "en" })}
        >
          <span className={styles.language} lang={language === "en" ? "zh" : "en"}>
            {language === "en" ? "中" : "EN"}
          </span>
        </Tool>
        <AccountMenu onSignOut={onSignOut} />
      </div>
    </header>
  );
}

function Tool({ command, onClick, children }: { command: Command; onClick: () => void; children: ReactNode }) {
  const { t } = useI18n();
  return (
    <Tooltip
      label={
        <>
          {t(command.name)} <CommandKey command={command} />
        </>
      }
    >
      <ActionIcon aria-label={t(command.name)} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function AccountMenu({ onSignOut }: { onSignOut: () => void }) {
  const { t } = useI18n();
  const user = useUser();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon aria-label={t("account.menu", { name: user.name || user.username })}>
          <UserRound size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.name || user.username}</Menu.Label>
        <Menu.Item
          component={Link}
          to="/preferences"
          leftSection={<Settings size={14} />}
          rightSection={<CommandKey command={globalCommands.preferences} />}
        >
          {t("global.preferences")}
        </Menu.Item>
        <Menu.Item component={Link} to="/security" leftSection={<ShieldCheck size={14} />}>
          {t("security.title")}
        </Menu.Item>
        <Menu.Item
          leftSection={<LogOut size={14} />}
          rightSection={<CommandKey command={globalCommands.signOut} />}
          onClick={onSignOut}
        >
          {t("global.sign_out")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
