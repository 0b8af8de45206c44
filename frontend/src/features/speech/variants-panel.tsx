/** Variants of the selected thought: what a model wrote beside it, chosen for exports or rejected. */
import { Button, Checkbox } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import type { VariantDecision, VariantIn, VariantOut, VariantsOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, type BadgeTone } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";
import { VARIANT_KINDS } from "@/shared/variants";

import { useVariants, variantsQuery } from "./api";
import { ModelBar } from "./model-bar";
import styles from "./speech.module.css";

const TONES = { proposed: "neutral", chosen: "ok", rejected: "danger", abstained: "warn" } as const satisfies Record<VariantOut["status"], BadgeTone>;

type Props = { episodeId: string; mayEdit: boolean; place: number; revision: number };

/** Nothing for annotators: variants are for those who review. */
export function VariantsPanel({ episodeId, mayEdit, place, revision }: Props) {
  const { t } = useI18n();
  const user = useUser();
  const client = useQueryClient();
  const maySee = hasRole(user, "reviewer") || hasRole(user, "researcher");
  const { data, error } = useQuery({ ...variantsQuery(episodeId), enabled: maySee });
  const change = useVariants(episodeId);
  useEffect(() => {
    if (maySee) void client.invalidateQueries({ queryKey: variantsQuery(episodeId).queryKey }); // a changed thought has others
  }, [client, episodeId, maySee, revision]);
  if (!maySee) return null;
  if (error) return <Problem error={error} />;
  if (!data) return null;
  const own = data.variants.filter(({ thought }) => thought === place);
  const proposed = data.variants.filter(({ status }) => status === "proposed");
  const decide = (decisions: VariantDecision[]) => change.mutate({ type: "decide", decisions });
  return (
    <details className={styles.history} open={data.jobs.length > 0}>
      <summary>{t("speech.variants")}</summary>
      <div className={styles.form}>
        {data.models.length === 0 && <p className={styles.none}>{t("speech.refinement.no_model")}</p>}
        {data.models.length > 0 && VARIANT_KINDS.map((kind) => (
          <KindBar key={kind} kind={kind} variants={data} change={change} />
        ))}
        <Problem error={change.error} />
        {own.map((variant) => (
          <Variant key={variant.id} variant={variant} mayDecide={mayEdit && !change.isPending} onDecide={(decision) => decide([decision])} />
        ))}
        {mayEdit && proposed.length > 0 && (
          <Button
            size="compact-xs"
            variant="default"
            loading={change.isPending}
            onClick={() => decide(proposed.map(({ id, dropped }) => ({ variant: id, status: "chosen", dropped })))}
            style={{ alignSelf: "start" }}
          >
            {t("speech.variants.choose_all", { count: proposed.length })}
          </Button>
        )}
      </div>
    </details>
  );
}

function KindBar({ kind, variants, change }: { kind: VariantIn["kind"]; variants: VariantsOut; change: ReturnType<typeof useVariants> }) {
  const { t } = useI18n();
  const last = variants.jobs.find((one) => one.kind === kind);
  return (
    <ModelBar
      name={t(`speech.variants.${kind}`)}
      startLabel={t(`speech.variants.${kind}.start`)}
      job={last?.job ?? null}
      policy={last?.policy ?? null}
      models={variants.models}
      isPending={change.isPending}
      error={null}
      onStart={(policy) => change.mutate({ type: "start", start: { kind, policy } })}
      onCancel={(job) => change.mutate({ type: "cancel", job })}
    />
  );
}

type VariantProps = { variant: VariantOut; mayDecide: boolean; onDecide: (decision: VariantDecision) => void };

/** An added sentence can be left out of a variant; what was said stays. */
function Variant({ variant, mayDecide, onDecide }: VariantProps) {
  const { t } = useI18n();
  const { id, kind, index, sentences, dropped, status, problem, model } = variant;
  const name = t("speech.variants.one", { kind: t(`speech.variants.${kind}`), number: index });
  const toggle = (place: number) => {
    const left = dropped.includes(place) ? dropped.filter((one) => one !== place) : [...dropped, place];
    onDecide({ variant: id, status: status === "rejected" || status === "abstained" ? "proposed" : status, dropped: left });
  };
  return (
    <fieldset className={styles.variant}>
      <legend className={styles.buttons}>
        {name} <Badge tone={TONES[status]}>{t(`speech.variants.status.${status}`)}</Badge> <span className={styles.quiet}>{model}</span>
      </legend>
      {problem && <p className={styles.none}>{t("speech.variants.problem", { problem })}</p>}
      {sentences.map(({ text, support }, place) =>
        support === "added" ? (
          <div key={place} className={styles.buttons}>
            <Checkbox size="xs" label={text} checked={!dropped.includes(place)} disabled={!mayDecide} onChange={() => toggle(place)} />
            <Badge tone="warn">{t("speech.support.added")}</Badge>
          </div>
        ) : (
          <p key={place} className={styles.none}>
            {text}
          </p>
        ),
      )}
      {mayDecide && status !== "abstained" && (
        <div className={styles.buttons}>
          {(["chosen", "rejected", "proposed"] as const)
            .filter((next) => next !== status)
            .map((next) => (
              <Button key={next} size="compact-xs" variant="default" aria-label={`${t(`speech.variants.set.${next}`)}: ${name}`} onClick={() => onDecide({ variant: id, status: next, dropped })}>
                {t(`speech.variants.set.${next}`)}
              </Button>
            ))}
        </div>
      )}
    </fieldset>
  );
}
