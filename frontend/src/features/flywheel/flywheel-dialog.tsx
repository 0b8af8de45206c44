/** Makes a flywheel for a pool, or changes its recipe and schedule. Fields begin with what is known of the pool. */
import { Alert, Button, Checkbox, Group, NativeSelect, NumberInput, SegmentedControl, Stack, Text, TextInput, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolPolicies, RecipeDraft, Recipe, RevisionSummary, WheelOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { Loading } from "@/shared/ui/states";

import { draftQuery, poolsQuery, revisionsQuery, useChange } from "./api";
import { recipeOf, sendable, type FlywheelDraft } from "./recipe-form";
import { RecipeFields } from "./recipe-fields";

type Props = { readonly opened: boolean; readonly flywheel?: WheelOut | undefined; readonly onClose: () => void };

export function FlywheelDialog({ opened, flywheel, onClose }: Props) {
  const { t } = useI18n();
  const title = flywheel ? t("flywheel.edit.title", { flywheel: flywheel.name }) : t("flywheel.new.title");
  return (
    <Dialog opened={opened} onClose={onClose} title={title} size="lg">
      {flywheel ? (
        <FlywheelForm
          begin={{ name: flywheel.name, everyHours: flywheel.every_hours ?? "", recipe: flywheel.recipe }}
          flywheel={flywheel}
          missing={[]}
          onDone={onClose}
        />
      ) : (
        <NewFlywheel onDone={onClose} />
      )}
    </Dialog>
  );
}

/** The pools, and the one that a new flywheel begins with; undefined while that is not known. */
function usePools() {
  const pools = useQuery(poolsQuery);
  const revisions = useQuery(revisionsQuery);
  const known = revisions.isError ? [] : revisions.data;
  return { pools, first: pools.data && known ? (firstWithModel(pools.data, known)?.id ?? null) : undefined };
}

/** First the pool, then the form with what is known of it. */
function NewFlywheel({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { pools, first } = usePools();
  const [chosen, setChosen] = useState<number | null>(null);
  const pool = chosen ?? first ?? null;
  const draft = useQuery({ ...draftQuery(pool ?? 0), enabled: pool !== null });
  if (pools.isError) return <Problem error={pools.error} />;
  if (!pools.data || first === undefined) return <Loading />;
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t("flywheel.pool")}
        description={t("flywheel.pool.help")}
        value={String(pool ?? "")}
        onChange={(event) => setChosen(Number(event.currentTarget.value))}
        data={pools.data.map(({ id, name }) => ({ value: String(id), label: name }))}
      />
      <Problem error={draft.error} />
      {draft.data && pool !== null && (
        <FlywheelForm
          key={pool}
          begin={{ name: draft.data.name, everyHours: "", recipe: draft.data.recipe as unknown as Recipe }}
          pool={pool}
          missing={draft.data.missing}
          onDone={onDone}
        />
      )}
    </Stack>
  );
}

/** The first pool whose active revision names weights to train, else the first. */
function firstWithModel(pools: readonly PoolPolicies[], revisions: readonly RevisionSummary[]): PoolPolicies | undefined {
  const models = new Set(revisions.filter(({ checkpoint }) => checkpoint !== "").map(({ id }) => id));
  return pools.find(({ active }) => active !== null && models.has(active)) ?? pools[0];
}

type FormProps = {
  readonly begin: FlywheelDraft;
  readonly pool?: number;
  readonly flywheel?: WheelOut;
  readonly missing: RecipeDraft["missing"];
  readonly onDone: () => void;
};

/** The name of the pool that a flywheel has, or will have. */
function useOwnPool(flywheel: WheelOut | undefined, pool: number | undefined): string | undefined {
  const pools = useQuery(poolsQuery).data;
  return flywheel?.pool ?? pools?.find(({ id }) => id === pool)?.name;
}

function FlywheelForm({ begin, pool, flywheel, missing, onDone }: FormProps) {
  const { t } = useI18n();
  const change = useChange();
  const own = useOwnPool(flywheel, pool);
  const [draft, setDraft] = useState(begin);
  const [byNeed, setByNeed] = useState(true);
  const [text, setText] = useState<string | null>(null);
  const written = text === null ? draft.recipe : recipeOf(text);
  const sent = written && sendable({ ...draft, recipe: written });
  const submit = () => {
    if (sent === null) return;
    const { name, every_hours, recipe } = sent;
    if (flywheel) change.mutate({ type: "edit", flywheel: flywheel.id, every_hours, recipe }, { onSuccess: onDone });
    else if (pool !== undefined) change.mutate({ type: "make", pool, name, every_hours, by_need: byNeed, recipe }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        {missing.length > 0 && (
          <Alert color="yellow" title={t("flywheel.missing")}>
            <ul>
              {missing.map((each) => (
                <li key={each}>{t(`flywheel.missing.${each}`)}</li>
              ))}
            </ul>
          </Alert>
        )}
        {!flywheel && (
          <TextInput
            label={t("flywheel.name")}
            value={draft.name}
            onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
            required
            maxLength={64}
          />
        )}
        <NumberInput
          label={t("flywheel.every_hours")}
          description={t("flywheel.every_hours.help")}
          value={draft.everyHours}
          onChange={(everyHours) => setDraft({ ...draft, everyHours })}
          min={1}
          max={8760}
          allowDecimal={false}
        />
        {!flywheel && (
          <Checkbox
            label={t("flywheel.by_need")}
            description={t("flywheel.by_need.help")}
            checked={byNeed}
            onChange={(event) => setByNeed(event.currentTarget.checked)}
          />
        )}
        <SegmentedControl
          aria-label={t("flywheel.view")}
          value={text === null ? "fields" : "json"}
          onChange={(view) => {
            if (view === "json") setText(JSON.stringify(draft.recipe, null, 2));
            else if (written) {
              setDraft({ ...draft, recipe: written });
              setText(null);
            }
          }}
          data={[
            { value: "fields", label: t("flywheel.view.fields"), disabled: written === null },
            { value: "json", label: t("flywheel.view.json") },
          ]}
        />
        {text === null ? (
          <RecipeFields recipe={draft.recipe} own={own} onChange={(recipe) => setDraft({ ...draft, recipe })} />
        ) : (
          <Textarea
            label={t("flywheel.view.json")}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={written === null ? t("flywheel.json.wrong") : undefined}
            autosize
            minRows={12}
            maxRows={24}
            spellCheck={false}
          />
        )}
        {flywheel && <Text size="sm">{t("flywheel.edit.help")}</Text>}
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={sent === null} loading={change.isPending}>
            {flywheel ? t("flywheel.save") : t("flywheel.make")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
