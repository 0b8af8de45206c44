/** Asks a model for drafts of a node: how many, for whom, in one application or several. */
import { Button, Checkbox, NumberInput, Select, SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";

import type { DraftsOverview } from "@/generated/api";
import { WriterForm } from "@/features/design/writer-form";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useDraftChange } from "./api";
import styles from "./drafts.module.css";
import { EXPERTISES, SCOPES, type Expertise, type Scope } from "./filters";

const MAX_COUNT = 50;

export function RequestForm({ node, overview }: { node: number; overview: DraftsOverview }) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  const change = useDraftChange();
  const close = () => {
    setOpen(false);
    change.reset();
  };
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        {t("drafts.ask")}
      </Button>
      <Dialog opened={open} onClose={close} title={t("drafts.ask")}>
        {overview.writers.length === 0 ? (
          <div className={styles.stack}>
            <p className={styles.note}>{t("drafts.no_writers")}</p>
            <WriterForm />
          </div>
        ) : (
          <Fields node={node} overview={overview} change={change} onDone={close} />
        )}
      </Dialog>
    </>
  );
}

type Props = {
  readonly node: number;
  readonly overview: DraftsOverview;
  readonly change: ReturnType<typeof useDraftChange>;
  readonly onDone: () => void;
};

function Fields({ node, overview, change, onDone }: Props) {
  const { t, language } = useI18n();
  const [chosen, setWriter] = useState("");
  const [count, setCount] = useState(6);
  const [expertises, setExpertises] = useState<readonly Expertise[]>(EXPERTISES);
  const [scopes, setScopes] = useState<readonly Scope[]>(["single"]);
  const [persona, setPersona] = useState("");
  const [written, setWritten] = useState<"en" | "zh">(language === "zh" ? "zh" : "en");
  const writer = overview.writers.find(({ id }) => String(id) === chosen) ?? overview.writers[0];
  const hasSeveral = overview.nodes.filter(({ path }) => path.length === 1).length > 1;
  if (!writer) return null;
  return (
    <form
      className={styles.stack}
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = { node, writer: writer.id, count, expertises: [...expertises], scopes: [...scopes], persona, language: written };
        change.mutate({ type: "request", wanted }, { onSuccess: onDone });
      }}
    >
      <div className={styles.two}>
        <Select
          data-autofocus
          label={t("design.writer")}
          allowDeselect={false}
          openOnFocus={false}
          data={overview.writers.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={String(writer.id)}
          onChange={(value) => value !== null && setWriter(value)}
        />
        <NumberInput label={t("design.count")} min={1} max={MAX_COUNT} allowDecimal={false} value={count} onChange={(value) => setCount(Number(value))} />
      </div>
      <Checkbox.Group
        label={t("drafts.filter.expertise")}
        value={[...expertises]}
        onChange={(values) => setExpertises(EXPERTISES.filter((one) => values.includes(one)))}
      >
        <div className={styles.checks}>
          {EXPERTISES.map((value) => (
            <Checkbox key={value} value={value} label={t(`drafts.expertise.${value}`)} />
          ))}
        </div>
      </Checkbox.Group>
      <Checkbox.Group
        label={t("drafts.filter.scope")}
        value={[...scopes]}
        onChange={(values) => setScopes(SCOPES.filter((one) => values.includes(one)))}
      >
        <div className={styles.checks}>
          {SCOPES.map((value) => (
            <Checkbox key={value} value={value} disabled={value === "several" && !hasSeveral} label={t(`drafts.scope.${value}`)} />
          ))}
        </div>
      </Checkbox.Group>
      <TextInput
        label={t("drafts.persona")}
        description={t("drafts.persona.help")}
        maxLength={200}
        value={persona}
        onChange={(event) => setPersona(event.currentTarget.value)}
      />
      <SegmentedControl
        aria-label={t("drafts.language")}
        data={[
          { value: "en", label: "English" },
          { value: "zh", label: "中文" },
        ]}
        value={written}
        onChange={setWritten}
      />
      <Problem error={change.error} />
      <div className={styles.actions}>
        <Button type="submit" loading={change.isPending} disabled={expertises.length === 0 || scopes.length === 0}>
          {t("drafts.ask")}
        </Button>
      </div>
    </form>
  );
}
