/** Names and weighs the chosen node, or makes one below it; without one, an application. */
import { Button, NumberInput, Switch, TextInput } from "@mantine/core";
import { useState } from "react";

import type { ImportanceWeights, NodeOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";
import { importanceOf, MEASURES } from "./importance";

const HALFWAY = { frequency: 5, benefit: 5, transfer: 5 };

type Props = { readonly node: NodeOut | null; readonly weights: ImportanceWeights; readonly onGone: () => void };

export function NodeForm({ node, weights, onGone }: Props) {
  const { t } = useI18n();
  const change = useChange();
  const [below, setBelow] = useState("");
  return (
    <div className={styles.form}>
      {node && <EditForm node={node} weights={weights} onGone={onGone} />}
      <form
        className={styles.fields}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ type: "make", parent: node?.id ?? null, name: below, importance: 1 }, { onSuccess: () => setBelow("") });
        }}
      >
        <TextInput
          label={node ? t("design.below", { name: node.name }) : t("design.application")}
          value={below}
          maxLength={100}
          onChange={(event) => setBelow(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={below.trim() === ""}>
          {t("design.add")}
        </Button>
      </form>
      <Problem error={change.error} />
    </div>
  );
}

type EditFormProps = { readonly node: NodeOut; readonly weights: ImportanceWeights; readonly onGone: () => void };

function EditForm({ node, weights, onGone }: EditFormProps) {
  const { t, number, percent } = useI18n();
  const change = useChange();
  const [name, setName] = useState(node.name);
  const [typed, setTyped] = useState(node.importance);
  const [measured, setMeasured] = useState(node.measures !== null);
  const [measures, setMeasures] = useState(node.measures ?? HALFWAY);
  const [source, setSource] = useState(node.measured_by);
  return (
    <form
      className={styles.stack}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({
          type: "change",
          node: node.id,
          name,
          importance: typed,
          measures: measured ? measures : null,
          measured_by: measured ? source : "",
        });
      }}
    >
      <div className={styles.fields}>
        <TextInput label={t("design.name")} value={name} maxLength={100} onChange={(event) => setName(event.currentTarget.value)} />
        {!measured && (
          <NumberInput
            label={t("design.importance")}
            w={110}
            min={0}
            max={10}
            value={typed}
            onChange={(value) => setTyped(Number(value))}
          />
        )}
        <Button type="submit" variant="default" disabled={name.trim() === ""} loading={change.isPending}>
          {t("design.save")}
        </Button>
        <ConfirmButton
          size="xs"
          label={t("design.delete")}
          ariaLabel={t("design.delete_one", { name: node.name })}
          confirmation={t("design.delete.ask", { name: node.name })}
          onConfirm={() => change.mutateAsync({ type: "delete", node: node.id }).then(onGone)}
        />
      </div>
      <Switch label={t("design.measured")} checked={measured} onChange={(event) => setMeasured(event.currentTarget.checked)} />
      {measured && (
        <>
          <div className={styles.measures}>
            {MEASURES.map((each) => (
              <NumberInput
                key={each}
                label={t(`design.measure.${each}`)}
                description={t(`design.measure.${each}.help`)}
                min={0}
                max={10}
                step={0.5}
                value={measures[each]}
                onChange={(value) => setMeasures({ ...measures, [each]: Number(value) })}
              />
            ))}
          </div>
          <TextInput
            label={t("design.measured_by")}
            placeholder={t("design.measured_by.example")}
            value={source}
            maxLength={500}
            onChange={(event) => setSource(event.currentTarget.value)}
          />
          <p className={styles.note}>
            <strong aria-live="polite">{t("design.measured.result", { importance: number(importanceOf(measures, weights), 2) })}</strong>{" "}
            {t("design.measured.formula", {
              frequency: percent(weights.frequency),
              benefit: percent(weights.benefit),
              transfer: percent(weights.transfer),
            })}
          </p>
        </>
      )}
      {!measured && <p className={styles.note}>{t("design.typed.help")}</p>}
      <Problem error={change.error} />
    </form>
  );
}
