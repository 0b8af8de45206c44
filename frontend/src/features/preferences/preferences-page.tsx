/** Theme, language and keys. */
import { SegmentedControl, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";

import { THEMES, usePreferences, type Preferences } from "@/shared/account/preferences";
import { messageOf } from "@/shared/api/http";
import type { KeyMap } from "@/shared/commands/command";
import { useI18n, type Language } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { PagePath } from "@/shared/ui/top-bar";
import { useUndoable } from "@/shared/ui/undo";

import { KeyMapEditor } from "./key-map-editor";
import styles from "./preferences.module.css";

const LANGUAGE_NAMES: Record<Language, string> = { en: "English", zh: "中文" };

export default function PreferencesPage() {
  const { t } = useI18n();
  const { preferences, change } = usePreferences();

  const undoable = useUndoable();
  const tell = (error: unknown) => notifications.show({ color: "red", message: messageOf(error, t).text });
  const save = (patch: Partial<Preferences>) => {
    change(patch).catch(tell);
  };
  const reset = (keys: KeyMap) => {
    const act = () =>
      change({ keys }).catch((error: unknown) => {
        tell(error);
        throw error;
      });
    undoable({ act, done: t("preferences.reset.done"), undo: () => change({ keys: preferences.keys }) });
  };

  return (
    <Page>
      <PagePath crumbs={[{ label: t("preferences.title") }]} />
      <Section title={t("preferences.look")}>
        <Row label={t("preferences.theme")}>
          <SegmentedControl
            aria-label={t("preferences.theme")}
            data={THEMES.map((value) => ({ value, label: t(`preferences.theme.${value}`) }))}
            value={preferences.theme}
            onChange={(theme) => save({ theme })}
          />
        </Row>
        <Row label={t("preferences.language")}>
          <SegmentedControl
            aria-label={t("preferences.language")}
            data={[
              { value: "en", label: LANGUAGE_NAMES.en },
              { value: "zh", label: LANGUAGE_NAMES.zh },
            ]}
            value={preferences.language}
            onChange={(language) => save({ language })}
          />
        </Row>
      </Section>
      <Section title={t("notices.title")}>
        <Row label={t("notices.mail")}>
          <Switch
            aria-label={t("notices.mail")}
            checked={preferences.mail_notices}
            onChange={(event) => save({ mail_notices: event.currentTarget.checked })}
          />
        </Row>
      </Section>
      <KeyMapEditor keyMap={preferences.keys} onChange={(keys) => save({ keys })} onReset={reset} />
    </Page>
  );
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={styles.row}>
      <span>{label}</span>
      {children}
    </div>
  );
}
