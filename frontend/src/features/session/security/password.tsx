/** Changing one's own password. */
import { Button, PasswordInput } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useChangePassword } from "./api";
import styles from "./security.module.css";

const NONE = { current: "", new: "" };

export function Password({ exists }: { exists: boolean }) {
  const { t } = useI18n();
  const [fields, setFields] = useState(NONE);
  const change = useChangePassword();
  const field = (name: keyof typeof NONE) => ({
    value: fields[name],
    miw: 220,
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => setFields((before) => ({ ...before, [name]: value })),
    visibilityToggleButtonProps: { "aria-label": t("session.show_password") },
  });
  return (
    <form
      className={styles.body}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(fields, { onSuccess: () => setFields(NONE) });
      }}
    >
      <p className={styles.note}>{t(exists ? "password.help" : "password.none")}</p>
      <div className={styles.row}>
        {exists && <PasswordInput {...field("current")} label={t("password.current")} autoComplete="current-password" />}
        <PasswordInput {...field("new")} label={t("password.new")} autoComplete="new-password" />
        <Button type="submit" size="sm" disabled={fields.new === "" || (exists && fields.current === "")} loading={change.isPending}>
          {t("password.change")}
        </Button>
      </div>
      <Problem error={change.error} />
      {change.isSuccess && <p role="status" className={styles.note}>{t("password.changed")}</p>}
    </form>
  );
}
