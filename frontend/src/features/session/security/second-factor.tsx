/** Turning the second factor on and off, and its recovery codes. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";

import type { FactorSetup, SecurityOut } from "@/generated/api";
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";

import { useBeginFactor, useConfirmFactor, useRemoveFactor, useRenewCodes } from "./api";
import styles from "./security.module.css";

export function SecondFactor({ security }: { security: SecurityOut }) {
  const { t } = useI18n();
  const [begin, confirm, renew] = [useBeginFactor(), useConfirmFactor(), useRenewCodes()];
  const codes = renew.data?.codes ?? confirm.data?.codes;
  return (
    <div className={styles.body}>
      <p className={styles.note} role="status">
        {security.two_factor ? t("security.factor.on", { count: security.recovery_codes_left }) : t("security.factor.off")}
      </p>
      {!security.two_factor && !begin.data && (
        <Button loading={begin.isPending} onClick={() => begin.mutate(undefined)}>
          {t("security.factor.begin")}
        </Button>
      )}
      {!security.two_factor && begin.data && <SetupForm begun={begin.data} confirm={confirm} />}
      <Problem error={begin.error ?? confirm.error} />
      {codes && <RecoveryCodes codes={codes} />}
      {security.two_factor && <FactorButtons renew={renew} />}
    </div>
  );
}

/** The code is what is typed next. */
const focus = (field: HTMLInputElement | null) => field?.focus();

function SetupForm({ begun, confirm }: { begun: FactorSetup; confirm: ReturnType<typeof useConfirmFactor> }) {
  const { t } = useI18n();
  const [code, setCode] = useState("");
  return (
    <form
      className={styles.body}
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate(code);
      }}
    >
      <p className={styles.note}>{t("security.factor.scan")}</p>
      <img
        className={styles.picture}
        src={`data:image/svg+xml;utf8,${encodeURIComponent(begun.picture)}`}
        alt={t("security.factor.picture")}
      />
      <p className={styles.note}>
        {t("security.factor.key")}: <span className={styles.key}>{begun.secret}</span>
      </p>
      <div className={styles.row}>
        <TextInput
          label={t("security.factor.code")}
          inputMode="numeric"
          autoComplete="one-time-code"
          ref={focus}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Button type="submit" disabled={code.trim().length < 6} loading={confirm.isPending}>
          {t("security.factor.confirm")}
        </Button>
      </div>
    </form>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useI18n();
  return (
    <div role="status">
      <p className={styles.note}>{t("security.codes.help")}</p>
      <ul className={styles.codes} aria-label={t("security.codes")}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </div>
  );
}

/** Both ask for the password again where it was not given for a while. */
function FactorButtons({ renew }: { renew: ReturnType<typeof useRenewCodes> }) {
  const { t } = useI18n();
  const remove = useRemoveFactor();
  return (
    <div className={styles.row}>
      <ConfirmButton
        size="sm"
        label={t("security.factor.codes")}
        confirmation={t("security.factor.codes.ask")}
        onConfirm={() => renew.mutateAsync(undefined)}
      />
      <ConfirmButton
        size="sm"
        label={t("security.factor.remove")}
        confirmation={t("security.factor.remove.ask")}
        onConfirm={() => remove.mutateAsync(undefined)}
      />
    </div>
  );
}

function Problem({ error }: { error: Error | null }) {
  const { t } = useI18n();
  return (
    <p role="alert" className={styles.problem}>
      {error && messageOf(error, t).text}
    </p>
  );
}
