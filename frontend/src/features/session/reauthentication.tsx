/** Asks for the password again over the page, before what makes an account weaker or lets programs in. */
import { Anchor, Button, PasswordInput, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { request, setReauthenticationGate } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { securityQuery } from "./security/api";
import styles from "./sign-in.module.css";

type Waiting = { resolve: () => void; reject: () => void };

/** The calls that were refused go on once the person has proved who they are, and fail where they would rather not. */
export function Reauthentication() {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const waiting = useRef<Waiting[]>([]);

  useEffect(() => {
    setReauthenticationGate(() => {
      setOpened(true);
      return new Promise((resolve, reject) => waiting.current.push({ resolve, reject }));
    });
    return () => setReauthenticationGate(null);
  }, []);

  const end = (how: keyof Waiting) => {
    setOpened(false);
    for (const each of waiting.current.splice(0)) each[how]();
  };
  return (
    <Dialog opened={opened} onClose={() => end("reject")} title={t("reauthentication.title")} size="sm" zIndex={900}>
      {opened && <ProofForm onDone={() => end("resolve")} />}
    </Dialog>
  );
}

/** Where the field comes after the dialog, once it is known what to ask for; a dialog that has it from the beginning finds it by its attribute. */
const focus = (field: HTMLInputElement | null) => field?.focus();

function ProofForm({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const security = useQuery(securityQuery).data;
  const [given, setGiven] = useState("");
  const prove = useMutation({
    mutationFn: (body: { password: string; code: string }) => request("POST", "/me/reauthenticate", body),
    onSuccess: onDone,
  });
  if (!security) return null;
  if (!security.password && !security.two_factor) {
    const next = encodeURIComponent(window.location.pathname);
    return (
      <Text size="sm">
        {t("reauthentication.sso")} <Anchor href={`/sso/oidc/login/?next=${next}`}>{t("session.sign_in")}</Anchor>
      </Text>
    );
  }
  const field = { value: given, ref: focus, "data-autofocus": true, onChange: (event: { currentTarget: { value: string } }) => setGiven(event.currentTarget.value) };
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        prove.mutate(security.password ? { password: given, code: "" } : { password: "", code: given });
      }}
    >
      <Text size="sm">{t("reauthentication.help")}</Text>
      {security.password ? (
        <PasswordInput
          {...field}
          label={t("security.factor.password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t("session.show_password") }}
        />
      ) : (
        <TextInput {...field} label={t("session.code")} inputMode="numeric" autoComplete="one-time-code" />
      )}
      <Problem error={prove.error} />
      <Button type="submit" size="sm" disabled={given === ""} loading={prove.isPending} fullWidth>
        {t("reauthentication.do")}
      </Button>
    </form>
  );
}
