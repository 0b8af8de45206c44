/** What a person set for themselves: theme, language, keys. Kept with their account, and on this device for the time before sign-in. */
import { useQueryClient } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from "react";

import type { UserOut } from "@/generated/api";
import { sessionQuery, useSessionUser } from "@/shared/account/account";
import { request } from "@/shared/api/http";
import type { KeyMap } from "@/shared/commands/command";
import { LANGUAGES, preferredLanguage, type Language } from "@/shared/i18n/i18n";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export type Preferences = { readonly theme: Theme; readonly language: Language; readonly keys: KeyMap; readonly mail_notices: boolean };

const STORAGE_KEY = "pilothouse.preferences";

/** Read preferences out of whatever was stored; what is not understood falls back to its default. */
function preferencesOf(stored: unknown, language: Language = preferredLanguage()): Preferences {
  const given = isRecord(stored) ? stored : {};
  return {
    theme: THEMES.find((theme) => theme === given.theme) ?? "auto",
    language: LANGUAGES.find((known) => known === given.language) ?? language,
    keys: isRecord(given.keys) ? keyMapOf(given.keys) : {},
    mail_notices: given.mail_notices === true,
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const keyMapOf = (stored: Record<string, unknown>): KeyMap =>
  Object.fromEntries(
    Object.entries(stored).filter(
      (entry): entry is [string, string[]] =>
        Array.isArray(entry[1]) && entry[1].every((combination) => typeof combination === "string"),
    ),
  );

function readLocal(): unknown {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null");
  } catch {
    return null; // Storage forbidden, or not ours: the defaults will do.
  }
}

type Value = { readonly preferences: Preferences; readonly change: (patch: Partial<Preferences>) => Promise<void> };

const PreferencesContext = createContext<Value>({
  preferences: { theme: "auto", language: "en", keys: {}, mail_notices: false },
  change: () => Promise.resolve(),
});

export function PreferencesProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const user = useSessionUser();
  const [local, setLocal] = useState(() => preferencesOf(readLocal()));
  const stored = user?.preferences;
  const preferences = useMemo(() => (stored ? preferencesOf({ ...local, keys: {}, ...stored }) : local), [stored, local]);

  /** Shown at once, then stored; a failed store raises and leaves this device's choice in force. */
  const change = useCallback(
    async (patch: Partial<Preferences>) => {
      const changed = { ...preferences, ...patch };
      setLocal(changed);
      localStorage.setItem(STORAGE_KEY, JSON.stringify(changed));
      if (!user) return;
      const put = (updated: UserOut) =>
        client.setQueryData(sessionQuery.queryKey, (session) => session && { ...session, user: updated });
      put({ ...user, preferences: { ...user.preferences, ...changed } });
      put(await request("PATCH", "/me", { preferences: { ...user.preferences, ...changed } }));
    },
    [client, preferences, user],
  );

  const value = useMemo(() => ({ preferences, change }), [preferences, change]);
  return <PreferencesContext value={value}>{children}</PreferencesContext>;
}

export const usePreferences = () => useContext(PreferencesContext);
