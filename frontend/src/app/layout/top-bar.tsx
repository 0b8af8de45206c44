/** Where one is, what the page says, and the few controls of every page. */
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { CircleQuestionMark, LogOut, Moon, Settings, Sun, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { Link, NavLink, useLocation, useMatch } from "react-router";

import { hasRole, TO_REVIEW, useUser } from "@/shared/account/account";
import { usePreferences } from "@/shared/account/preferences";
import type { Command } from "@/shared/commands/command";
import { globalCommands } from "@/shared/commands/global";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { LogoMark } from "@/shared/ui/logo";
import { PathSlot, StatusSlot } from "@/shared/ui/top-bar";

import styles from "./layout.module.css";
import { useNextTheme } from "./use-next-theme";

export function TopBar({ onHelp, onSignOut }: { onHelp: () => void; onSignOut: () => void }) {
  const { language } = useI18n();
  const { change } = usePreferences();
  const nextTheme = useNextTheme();
  const atDesk = useMatch("/desk/:id") !== null;
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.home}>
        <LogoMark />
        Pilothouse
      </Link>
      <div className={styles.place}>
        <PathSlot />
      </div>
      <StatusSlot />
      {!atDesk && <Navigation />}
      <div className={styles.tools}>
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

function Navigation() {
  const { t } = useI18n();
  const user = useUser();
  const { search } = useLocation();
  const atEpisodes = useMatch("/episodes") !== null;
  const atReview = atEpisodes && new URLSearchParams(search).get("review") === "pending";
  return (
    <nav className={styles.nav} aria-label={t("nav.label")}>
      {hasRole(user, "annotator") && <NavLink to="/queue">{t("global.queue")}</NavLink>}
      {hasRole(user, "reviewer") && (
        <Link to={TO_REVIEW} aria-current={atReview ? "page" : undefined}>
          {t("nav.review")}
        </Link>
      )}
      <Link to="/episodes" aria-current={atEpisodes && !atReview ? "page" : undefined}>
        {t("global.episodes")}
      </Link>
      {hasRole(user, "researcher") && <NavLink to="/exports">{t("global.exports")}</NavLink>}
      {hasRole(user, "admin") && <NavLink to="/policies">{t("global.policies")}</NavLink>}
      {hasRole(user, "admin") && <NavLink to="/machines">{t("global.machines")}</NavLink>}
      {hasRole(user, "admin") && <NavLink to="/judges">{t("global.judges")}</NavLink>}
    </nav>
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
