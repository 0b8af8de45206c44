/** Setting a new password by a link; for somebody who is not signed in. */
import { Anchor, Button, PasswordInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "react-router";

import type { PasswordLinkDetails } from "@/generated/api";
import { sessionQuery } from "@/shared/account/account";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { LogoMark } from "@/shared/ui/logo";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import styles from "./sign-in.module.css";

export default function ResetPasswordPage() {
  const { t } = useI18n();
  const secret = useLocation().hash.slice(1);
  const session = useQuery(sessionQuery); // its answer brings the token that the form must carry
  const link = useQuery({
    queryKey: ["password-link", secret],
    queryFn: () => request("POST", "/session/password-link", { secret }),
    enabled: session.isSuccess,
    retry: false,
    staleTime: Infinity,
  });
  return (
    <main className={styles.page}>
      <title>{`${t("reset.title")} · Pilothouse`}</title>
      <div className={styles.card}>
        <LogoMark size={32} />
        <h1 className={styles.title}>{t("reset.title")}</h1>
        {(link.isPending || session.isPending) && <Loading />}
        {link.isError && <ErrorState error={link.error} />}
        {link.data && <ResetForm secret={secret} link={link.data} />}
      </div>
    </main>
  );
}

function ResetForm({ secret, link }: { secret: string; link: PasswordLinkDetails }) {
  const { t } = useI18n();
  const [password, setPassword] = useState("");
  const reset = useMutation({ mutationFn: () => request("POST", "/session/password", { secret, password }) });
  if (reset.isSuccess) {
    return (
      <p role="status" className={styles.tagline}>
        {t("reset.done")} <Anchor href="/">{t("session.sign_in")}</Anchor>
      </p>
    );
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        reset.mutate();
      }}
    >
      <p className={styles.tagline}>{t("reset.who", { name: link.name, username: link.username })}</p>
      <input type="text" autoComplete="username" value={link.username} readOnly hidden />
      <PasswordInput
        label={t("password.new")}
        autoComplete="new-password"
        data-autofocus
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": t("session.show_password") }}
      />
      <Problem error={reset.error} />
      <Button type="submit" size="sm" disabled={password === ""} loading={reset.isPending} fullWidth>
        {t("reset.do")}
      </Button>
    </form>
  );
}
