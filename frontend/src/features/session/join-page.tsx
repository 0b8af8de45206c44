/** Making an account with an invitation; for somebody who is not signed in. */
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "react-router";

import type { InvitationDetails, JoinIn } from "@/generated/api";
import { sessionQuery, type Role } from "@/shared/account/account";
import { messageOf, request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { LogoMark } from "@/shared/ui/logo";
import { ErrorState, Loading } from "@/shared/ui/states";

import styles from "./sign-in.module.css";

export default function JoinPage() {
  const { t } = useI18n();
  // In the fragment, which browsers keep to themselves; the path is the form of links made before.
  const { hash } = useLocation();
  const { secret = hash.slice(1) } = useParams();
  const session = useQuery(sessionQuery); // its answer brings the token that the form must carry
  const invitation = useQuery({
    queryKey: ["join", secret],
    queryFn: () => request("POST", "/join/invitation", { secret }),
    enabled: session.isSuccess,
    retry: false,
  });
  return (
    <main className={styles.page}>
      <title>{`${t("join.title")} · Pilothouse`}</title>
      <div className={styles.card}>
        <LogoMark size={32} />
        <h1 className={styles.title}>{t("join.title")}</h1>
        {(invitation.isPending || session.isPending) && <Loading />}
        {invitation.isError && <ErrorState error={invitation.error} />}
        {invitation.data && session.data && <Join secret={secret} invitation={invitation.data} />}
      </div>
    </main>
  );
}

function Join({ secret, invitation }: { secret: string; invitation: InvitationDetails }) {
  const { t } = useI18n();
  const [fields, setFields] = useState<Omit<JoinIn, "secret">>({ username: "", name: "", password: "" });
  const join = useMutation({
    mutationFn: () => request("POST", "/join", { ...fields, secret }),
    onSuccess: () => window.location.assign("/"),
  });
  const set = (name: keyof typeof fields) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setFields((before) => ({ ...before, [name]: value }));
  };
  const roles = invitation.roles.map((role) => t(`role.${role as Role}`)).join(", ");
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        join.mutate();
      }}
    >
      <p className={styles.tagline}>{t("join.invited", { who: invitation.invited_by, roles })}</p>
      <TextInput label={t("join.name")} autoComplete="name" required withAsterisk={false} value={fields.name} onChange={set("name")} />
      <TextInput
        label={t("join.username")}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
        value={fields.username}
        onChange={set("username")}
      />
      <PasswordInput
        label={t("join.password")}
        autoComplete="new-password"
        required
        withAsterisk={false}
        value={fields.password}
        onChange={set("password")}
        visibilityToggleButtonProps={{ "aria-label": t("session.show_password") }}
      />
      <div role="alert" className={styles.error}>
        {join.error && messageOf(join.error, t).text}
      </div>
      <Button type="submit" size="sm" loading={join.isPending} fullWidth>
        {t("join.do")}
      </Button>
    </form>
  );
}
