/** For who forgot their password: a link by mail where mail is sent, else whom to ask. */
import { Anchor, Button, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { sessionQuery } from "@/shared/account/account";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import styles from "./sign-in.module.css";

/** Stands beside the sign-in form, not in it: a form cannot hold another. */
export function ForgottenPassword() {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const mail = useQuery(sessionQuery).data?.mail ?? false;
  return (
    <div className={styles.forgotten}>
      <Anchor component="button" type="button" size="sm" aria-expanded={opened} onClick={() => setOpened(!opened)}>
        {t("forgotten.title")}
      </Anchor>
      {opened && (mail ? <MailForm /> : <Text size="sm">{t("forgotten.ask_admin")}</Text>)}
    </div>
  );
}

function MailForm() {
  const { t } = useI18n();
  const [login, setLogin] = useState("");
  const send = useMutation({ mutationFn: () => request("POST", "/session/forgotten", { login }) });
  if (send.isSuccess) return <Text size="sm" role="status">{t("forgotten.sent")}</Text>;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <TextInput
        label={t("forgotten.login")}
        size="sm"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        value={login}
        onChange={(event) => setLogin(event.currentTarget.value)}
      />
      <Problem error={send.error} />
      <Button type="submit" size="sm" variant="default" disabled={login.trim() === ""} loading={send.isPending} fullWidth>
        {t("forgotten.send")}
      </Button>
    </form>
  );
}
