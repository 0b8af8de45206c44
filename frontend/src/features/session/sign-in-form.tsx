/** Name and password. */
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useEffect, useRef, useState, type SyntheticEvent } from "react";

import { useSignIn } from "@/shared/account/account";
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./sign-in.module.css";

export function SignInForm({ username: known = "", onDone }: { username?: string; onDone?: (username: string) => void }) {
  const { t } = useI18n();
  const [username, setUsername] = useState(known);
  const [password, setPassword] = useState("");
  const signIn = useSignIn();
  const [name, secret] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];

  useEffect(() => (known ? secret : name).current?.focus(), [known, name, secret]);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    signIn.mutate({ username, password }, { onSuccess: (session) => onDone?.(session.user?.username ?? "") });
  };

  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        label={t("session.username")}
        size="sm"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
        ref={name}
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordInput
        label={t("session.password")}
        autoComplete="current-password"
        required
        withAsterisk={false}
        ref={secret}
        data-autofocus
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": t("session.show_password") }}
      />
      <div role="alert" className={styles.error}>
        {signIn.error && messageOf(signIn.error, t).text}
      </div>
      <Button type="submit" size="sm" loading={signIn.isPending} fullWidth>
        {t("session.sign_in")}
      </Button>
    </form>
  );
}
