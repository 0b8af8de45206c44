/** Sets what an evaluation must show before a revision is promoted in a pool. */
import { Button, Checkbox, Group, NativeSelect, NumberInput, SegmentedControl, Stack, Switch, Text, Textarea } from "@mantine/core";
import { useState } from "react";

import type { Gate, PoolPolicies } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

type Props = { readonly pool: PoolPolicies | null; readonly onClose: () => void };

export function GateDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("policies.gate.title", { pool: pool?.name ?? "" })}>
      {pool && <GateForm pool={pool} onDone={onClose} />}
    </Dialog>
  );
}

const IMPROVEMENTS = ["estimated", "significant", "none"] as const satisfies readonly Gate["improvement"][];
type Improvement = (typeof IMPROVEMENTS)[number];

/** A gate while it is written; a number field that was emptied holds a text. */
type Draft = {
  readonly over: string;
  readonly attempts: number | string;
  readonly percent: number | string;
  readonly no_regression: boolean;
  readonly improvement: Improvement;
  readonly promote: NonNullable<Gate["promote"]>;
};

const DEFAULTS: Gate = { over: [], attempts: 5, success: 0, no_regression: true, improvement: "estimated", promote: "by_hand" };

function draftOf(gate: Gate | null): Draft {
  const { over = [], attempts = 5, success = 0, no_regression = true, improvement = "none", promote = "by_hand" } = gate ?? DEFAULTS;
  return { over: over.join("\n"), attempts, percent: Math.round(success * 100), no_regression, improvement, promote };
}

/** The gate that was written; null while a number is missing. */
function gateOf({ over, attempts, percent, ...rest }: Draft): Gate | null {
  if (typeof attempts !== "number" || typeof percent !== "number") return null;
  const lines = over.split("\n").map((line) => line.trim());
  return { ...rest, over: lines.filter(Boolean), attempts, success: percent / 100 };
}

function GateForm({ pool, onDone }: { pool: PoolPolicies; onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [on, setOn] = useState(true);
  const [draft, setDraft] = useState(() => draftOf(pool.gate));
  const gate = on ? gateOf(draft) : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "gate", pool: pool.id, gate }, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("policies.gate.help")}</Text>
        <Switch label={t("policies.gate.on")} checked={on} onChange={(event) => setOn(event.currentTarget.checked)} />
        {on && <GateFields draft={draft} onChange={(changed) => setDraft({ ...draft, ...changed })} />}
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={on && gate === null} loading={change.isPending}>
            {t("policies.save")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function GateFields({ draft, onChange }: { draft: Draft; onChange: (changed: Partial<Draft>) => void }) {
  const { t } = useI18n();
  return (
    <>
      <Textarea
        label={t("policies.gate.over")}
        description={t("policies.gate.over.help")}
        value={draft.over}
        onChange={(event) => onChange({ over: event.currentTarget.value })}
        autosize
        minRows={2}
      />
      <NumberInput
        label={t("policies.gate.least_attempts")}
        value={draft.attempts}
        onChange={(attempts) => onChange({ attempts })}
        min={1}
        max={10_000}
        allowDecimal={false}
      />
      <NumberInput
        label={t("policies.gate.least_success")}
        value={draft.percent}
        onChange={(percent) => onChange({ percent })}
        min={0}
        max={100}
      />
      <Checkbox
        label={t("policies.gate.regression")}
        checked={draft.no_regression}
        onChange={(event) => onChange({ no_regression: event.currentTarget.checked })}
      />
      <NativeSelect
        label={t("policies.gate.improvement")}
        description={t("policies.gate.improvement.help")}
        value={draft.improvement}
        onChange={(event) => onChange({ improvement: IMPROVEMENTS.find((one) => one === event.currentTarget.value) ?? "none" })}
        data={IMPROVEMENTS.map((value) => ({ value, label: t(`policies.gate.improvement.${value}`) }))}
      />
      <SegmentedControl
        aria-label={t("policies.gate.promote")}
        value={draft.promote}
        onChange={(value) => onChange({ promote: value === "automatically" ? "automatically" : "by_hand" })}
        data={[
          { value: "by_hand", label: t("policies.gate.promote.by_hand") },
          { value: "automatically", label: t("policies.gate.promote.automatically") },
        ]}
      />
    </>
  );
}
