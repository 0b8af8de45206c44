/** Name and password, then the code of whoever has a second factor; or the way to single sign-on. */
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type SyntheticEvent } from "react";

import { sessionQuery, useSignIn } from "@/shared/account/account";
import { ApiError, messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./sign-in.module.css";

export function SignInForm({ username: known = "", onDone }: { username?: string; onDone?: (username: string) => void }) {
  const { t } = useI18n();
  const [username, setUsername] = useState(known);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const signIn = useSignIn();
  const [name, secret] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  const digits = useRef<HTMLInputElement>(null);
  const refusal = signIn.error instanceof ApiError ? signIn.error.code : null;
  const coded = refusal === "code_required" || refusal === "wrong_code" || code !== "";

  useEffect(() => (known ? secret : name).current?.focus(), [known, name, secret]);

  useEffect(() => {
    if (coded) digits.current?.focus();
  }, [coded]);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    signIn.mutate({ username, password, code }, { onSuccess: (session) => onDone?.(session.user?.username ?? "") });
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
      {coded && (
        <TextInput
          label={t("session.code")}
          size="sm"
          inputMode="numeric"
          autoComplete="one-time-code"
          ref={digits}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      )}
      <div role="alert" className={styles.error}>
        {signIn.error && refusal !== "code_required" && messageOf(signIn.error, t).text}
      </div>
      <Button type="submit" size="sm" loading={signIn.isPending} fullWidth>
        {t("session.sign_in")}
      </Button>
      <SingleSignOn />
    </form>
  );
}

const REASONS = ["failed", "unknown", "inactive"] as const;

/** The provider's button, where there is one, and why it sent somebody back. */
function SingleSignOn() {
  const { t } = useI18n();
  const name = useQuery(sessionQuery).data?.sso;
  const codeRequired = new URLSearchParams(window.location.search);
  const why = REASONS.find((reason) => reason === codeRequired.get("sso"));
  if (!name) return null;
  const next = codeRequired.get("next") ?? window.location.pathname;
  return (
    <>
      {why && (
        <div role="alert" className={styles.error}>
          {t(`session.sso.${why}`)}
        </div>
      )}
      <Button
        component="a"
        href={`/sso/oidc/login/?next=${encodeURIComponent(next.startsWith("/sign-in") ? "/" : next)}`}
        variant="default"
        size="sm"
        fullWidth
      >
        {name}
      </Button>
    </>
  );
}
