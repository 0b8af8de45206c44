/** Makes drafts tasks of a pool, once it was seen what says the same there. */
import { Button, Checkbox, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { DraftOut, DraftPool } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { checkQuery, useDraftChange } from "./api";
import { Matches } from "./draft-item";
import styles from "./drafts.module.css";

type Props = {
  readonly drafts: readonly DraftOut[];
  readonly pools: readonly DraftPool[];
  /** The one that was chosen last. */
  readonly poolId: number | null;
  readonly onPool: (id: number) => void;
  readonly onClose: () => void;
  readonly onDone: () => void;
};

export function AcceptDialog({ drafts, pools, poolId, onPool, onClose, onDone }: Props) {
  const { t } = useI18n();
  const pool = pools.find(({ id }) => id === poolId) ?? pools[0];
  return (
    <Dialog opened onClose={onClose} size="lg" title={t("drafts.accept_some", { count: drafts.length })}>
      {pool ? (
        <div className={styles.stack}>
          <Select
            data-autofocus
            label={t("drafts.pool")}
            description={t("drafts.pool.machine", { platform: pool.platform, image: pool.image })}
            allowDeselect={false}
            searchable
            openOnFocus={false}
            data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
            value={String(pool.id)}
            onChange={(value) => onPool(Number(value))}
          />
          <AcceptForm key={pool.id} drafts={drafts} pool={pool} onClose={onClose} onDone={onDone} />
        </div>
      ) : (
        <p role="alert">{t("drafts.no_pools")}</p>
      )}
    </Dialog>
  );
}

type FormProps = Pick<Props, "drafts" | "onClose" | "onDone"> & { readonly pool: DraftPool };

function AcceptForm({ drafts, pool, onClose, onDone }: FormProps) {
  const { t } = useI18n();
  const [steps, setSteps] = useState<number | null>(null);
  const [hosts, setHosts] = useState("");
  const [confirmed, setConfirmed] = useState(false);
  const ids = drafts.map(({ id }) => id);
  const check = useQuery(checkQuery(ids, pool.id));
  const change = useDraftChange();
  const found = check.data ?? [];
  const wanted = { drafts: ids, pool: pool.id, max_steps: steps, network: hosts.split(/[\s,]+/).filter(Boolean), confirmed };
  const done = () => {
    onDone();
    onClose();
  };
  return (
    <form
      className={styles.stack}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "accept", wanted }, { onSuccess: done });
      }}
    >
      <div className={styles.fields}>
        <NumberInput
          label={t("drafts.max_steps")}
          description={t("drafts.max_steps.help")}
          placeholder={t("drafts.max_steps.from_rubric")}
          w={220}
          min={1}
          max={pool.max_steps}
          allowDecimal={false}
          value={steps ?? ""}
          onChange={(value) => setSteps(typeof value === "number" ? value : null)}
        />
        <TextInput
          label={t("drafts.network")}
          description={t("drafts.network.help")}
          placeholder="shop.example.org"
          className={styles.grow}
          value={hosts}
          onChange={(event) => setHosts(event.currentTarget.value)}
        />
      </div>
      <p className={styles.note}>{t("drafts.judged")}</p>
      <div role="status" className={styles.note}>
        {check.isFetching && t("drafts.checking")}
        {check.isSuccess && !check.isFetching && found.length === 0 && t("drafts.no_matches")}
      </div>
      {found.length > 0 && (
        <>
          {drafts.map(({ id, content }) => (
            <Matches key={id} text={content.text} matches={found.find(({ draft }) => draft === id)?.matches ?? []} />
          ))}
          <Checkbox
            label={t("drafts.confirm", { count: found.length })}
            checked={confirmed}
            onChange={(event) => setConfirmed(event.currentTarget.checked)}
          />
        </>
      )}
      <Problem error={change.error ?? check.error} />
      <div className={styles.actions}>
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={change.isPending} disabled={!check.isSuccess || (found.length > 0 && !confirmed)}>
          {t("drafts.accept")}
        </Button>
      </div>
    </form>
  );
}
