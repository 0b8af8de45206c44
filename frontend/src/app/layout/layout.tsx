/** The frame of every page: bar, content, help, palette and the commands that work everywhere. */
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";

import { browserDraftStore } from "@/session/drafts";
import { useSignOut, useUser } from "@/shared/account/account";
import { usePreferences } from "@/shared/account/preferences";
import { useCommands } from "@/shared/commands/commands";
import { globalCommands } from "@/shared/commands/global";
import { HelpOverlay } from "@/shared/commands/help-overlay";
import { openPalette, Palette } from "@/shared/commands/palette";
import { useI18n } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import styles from "./layout.module.css";
import { ADMIN_ITEMS, canOpen, MAIN_ITEMS } from "./navigation-items";
import { TopBar } from "./top-bar";
import { useNextTheme } from "./use-next-theme";

export function Layout({ children }: { children: ReactNode }) {
  const { t, language } = useI18n();
  const { change } = usePreferences();
  const navigate = useNavigate();
  const user = useUser();
  const signOut = useSignOut(() => browserDraftStore(user.id).forgetTexts());
  const nextTheme = useNextTheme();
  const [help, setHelp] = useState(false);

  useCommands([
    { command: globalCommands.help, run: () => setHelp(true) },
    { command: globalCommands.palette, run: openPalette },
    ...[...MAIN_ITEMS, ...ADMIN_ITEMS].flatMap((item) =>
      item.command ? [{ command: item.command, enabled: canOpen(user, item), run: () => void navigate(item.to) }] : [],
    ),
    { command: globalCommands.preferences, run: () => void navigate("/preferences") },
    { command: globalCommands.theme, run: () => void change({ theme: nextTheme }) },
    { command: globalCommands.language, run: () => void change({ language: language === "en" ? "zh" : "en" }) },
    { command: globalCommands.signOut, run: () => signOut.mutate() },
  ]);

  return (
    <TopBarProvider>
      <a className={styles.skip} href="#content">
        {t("common.skip_to_content")}
      </a>
      <TopBar onHelp={() => setHelp(true)} onSignOut={() => signOut.mutate()} />
      <main id="content" className={styles.content} tabIndex={-1}>
        {children}
      </main>
      <HelpOverlay opened={help} onClose={() => setHelp(false)} />
      <Palette />
    </TopBarProvider>
  );
}
