/** What surrounds every page: preferences, language, look, keys. */
import { MantineProvider, useMantineColorScheme } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { useEffect, type ReactNode } from "react";

import { PreferencesProvider, usePreferences } from "@/shared/account/preferences";
import { CommandsProvider } from "@/shared/commands/commands";
import { I18nProvider } from "@/shared/i18n/i18n";

import { ALL_COMMANDS } from "./commands";
import { cssVariables, theme } from "./theme";

export function AppProviders({ children }: { children: ReactNode }) {
  return (
    <PreferencesProvider>
      <ThemedProviders>{children}</ThemedProviders>
    </PreferencesProvider>
  );
}

function ThemedProviders({ children }: { children: ReactNode }) {
  const { preferences } = usePreferences();
  return (
    <I18nProvider language={preferences.language}>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme={preferences.theme}>
        <ThemeFromPreferences />
        <CommandsProvider all={ALL_COMMANDS} keyMap={preferences.keys}>
          <Notifications position="bottom-left" limit={5} />
          {children}
        </CommandsProvider>
      </MantineProvider>
    </I18nProvider>
  );
}

/** Mantine keeps a colour scheme of its own; the person's preference leads it. */
function ThemeFromPreferences() {
  const { theme: wanted } = usePreferences().preferences;
  const { setColorScheme } = useMantineColorScheme();
  useEffect(() => setColorScheme(wanted), [wanted, setColorScheme]);
  return null;
}
