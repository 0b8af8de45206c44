/** Writes a draft, or edits one: what is to be done, for whom, what must be there before, and when it is done. */
import { Button, MultiSelect, NumberInput, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";

import type { DraftContent, DraftOut, DraftsOverview, Rubric } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useDraftChange } from "./api";
import styles from "./drafts.module.css";
import { EXPERTISES } from "./filters";

const RUBRIC_FIELDS = ["steps", "pages", "prerequisites", "exceptions"] as const satisfies readonly (keyof Rubric)[];

/** The lines of a text that say something. */
export const linesOf = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean);

export function DraftForm({ node, overview }: { node: number; overview: DraftsOverview }) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  const change = useDraftChange();
  const own = applicationOf(node, overview);
  const close = () => {
    setOpen(false);
    change.reset();
  };
  return (
    <>
      <Button size="compact-sm" onClick={() => setOpen(true)}>
        {t("drafts.write")}
      </Button>
      <Dialog opened={open} onClose={close} size="lg" title={t("drafts.write")}>
        <ContentForm
          content={{ text: "", expertise: "novice", applications: [own], criteria: [] }}
          overview={overview}
          own={own}
          isPending={change.isPending}
          error={change.error}
          onSave={(content) => change.mutate({ type: "add", node, content }, { onSuccess: close })}
        />
      </Dialog>
    </>
  );
}

export function EditDialog({ draft, overview, onClose }: { draft: DraftOut; overview: DraftsOverview; onClose: () => void }) {
  const { t } = useI18n();
  const change = useDraftChange();
  return (
    <Dialog opened onClose={onClose} size="lg" title={t("drafts.edit")}>
      <ContentForm
        content={draft.content}
        overview={overview}
        own={draft.content.applications[0] ?? ""}
        isPending={change.isPending}
        error={change.error}
        onSave={(content) => change.mutate({ type: "edit", draft: draft.id, content }, { onSuccess: onClose })}
      />
    </Dialog>
  );
}

type Props = {
  readonly content: DraftContent;
  readonly overview: DraftsOverview;
  /** The node's application, in which every draft of it is done. */
  readonly own: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onSave: (content: DraftContent) => void;
};

function ContentForm({ content, overview, own, isPending, error, onSave }: Props) {
  const { t } = useI18n();
  const [draft, setDraft] = useState(content);
  const [preconditions, setPreconditions] = useState((content.preconditions ?? []).join("\n"));
  const [criteria, setCriteria] = useState(content.criteria.join("\n"));
  const rubric: Rubric = draft.rubric ?? {};
  const others = overview.nodes.flatMap(({ path }) => (path.length === 1 && path[0] !== own ? path : []));
  return (
    <form
      className={styles.stack}
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ ...draft, preconditions: linesOf(preconditions), criteria: linesOf(criteria) });
      }}
    >
      <Textarea
        data-autofocus
        label={t("drafts.text")}
        required
        autosize
        minRows={2}
        maxLength={2_000}
        value={draft.text}
        onChange={(event) => setDraft({ ...draft, text: event.currentTarget.value })}
      />
      <div>
        <span id="drafts-expertise" className={styles.label}>
          {t("drafts.filter.expertise")}
        </span>
        <SegmentedControl
          fullWidth
          aria-labelledby="drafts-expertise"
          data={EXPERTISES.map((value) => ({ value, label: t(`drafts.expertise.${value}`) }))}
          value={draft.expertise}
          onChange={(expertise) => setDraft({ ...draft, expertise })}
        />
      </div>
      <div className={styles.two}>
        <MultiSelect
          label={t("drafts.other_applications")}
          description={t("drafts.other_applications.help", { name: own })}
          searchable
          data={others}
          value={draft.applications.filter((name) => name !== own)}
          onChange={(names) => setDraft({ ...draft, applications: [own, ...names] })}
        />
        <TextInput
          label={t("drafts.persona")}
          description={t("drafts.persona.help")}
          maxLength={200}
          value={draft.persona ?? ""}
          onChange={(event) => setDraft({ ...draft, persona: event.currentTarget.value })}
        />
      </div>
      <Textarea
        label={t("drafts.preconditions")}
        description={t("drafts.preconditions.help")}
        autosize
        minRows={1}
        value={preconditions}
        onChange={(event) => setPreconditions(event.currentTarget.value)}
      />
      <Textarea
        label={t("drafts.criteria")}
        description={t("drafts.criteria.help")}
        required
        autosize
        minRows={2}
        value={criteria}
        onChange={(event) => setCriteria(event.currentTarget.value)}
      />
      <div className={styles.fields}>
        {RUBRIC_FIELDS.map((name) => (
          <NumberInput
            key={name}
            label={t(`design.rubric.${name}`)}
            description={t(`design.rubric.${name}.help`)}
            w={124}
            min={name === "steps" ? 1 : 0}
            max={1_000}
            allowDecimal={false}
            value={rubric[name] ?? (name === "steps" ? 1 : 0)}
            onChange={(value) => setDraft({ ...draft, rubric: { ...rubric, [name]: Number(value) } })}
          />
        ))}
      </div>
      <Problem error={error} />
      <div className={styles.actions}>
        <Button type="submit" loading={isPending} disabled={draft.text.trim().length < 3 || linesOf(criteria).length === 0}>
          {t("design.save")}
        </Button>
      </div>
    </form>
  );
}

/** The name of the topmost node above this one. */
export const applicationOf = (node: number, { nodes }: DraftsOverview) => nodes.find(({ id }) => id === node)?.path[0] ?? "";
