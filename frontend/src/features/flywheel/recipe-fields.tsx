/** The fields of a recipe: what is learned from, what is trained, what is tried, and what becomes of the result. */
import { Checkbox, Fieldset, MultiSelect, NativeSelect, SimpleGrid, Stack, Switch, TagsInput, Text, TextInput } from "@mantine/core";

import { useQuery } from "@tanstack/react-query";

import type { LikelihoodTraining, Recipe, ReinforcementTraining } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { poolsQuery } from "./api";
import { Amount, Cadence, PlanSwitch, type PlanProps } from "./plan-fields";
import { PlayedTasks } from "./played-tasks";
import { Preferences } from "./preference-fields";
import { GENERAL_KINDS, generalPaths, IMITATION, isEmpty, MERGE_WEIGHTS, PREFERENCES, PRETRAINING, reinforcement, shareOf, successBounds, valueUpdates, WEIGHTINGS, withGeneralPaths, withSuccessBound } from "./recipe-form";

type Props = {
  readonly recipe: Recipe;
  /** The name of the flywheel's own pool, where it is known. */
  readonly own?: string;
  readonly onChange: (recipe: Recipe) => void;
};

export function RecipeFields({ recipe, own, onChange }: Props) {
  const { t } = useI18n();
  const set = (changed: Partial<Recipe>) => onChange({ ...recipe, ...changed });
  return (
    <Stack gap="md">
      <Sources recipe={recipe} own={own} onChange={onChange} />
      <Fieldset legend={t("flywheel.form.train")}>
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label={t("flywheel.form.policy")}
              description={t("flywheel.form.policy.help")}
              value={recipe.policy}
              onChange={(event) => set({ policy: event.currentTarget.value })}
              required
            />
            <TextInput
              label={t("flywheel.form.start")}
              description={t("flywheel.form.start.help")}
              value={recipe.start}
              onChange={(event) => set({ start: event.currentTarget.value })}
              required
            />
          </SimpleGrid>
          <Likelihood phase="sft" plan={recipe.sft} initial={IMITATION} onChange={(sft) => set({ sft, specialists: sft && recipe.specialists })} />
          <Likelihood phase="ct" plan={recipe.ct} initial={PRETRAINING} onChange={(ct) => set({ ct })} />
          <Preferences plan={recipe.preferences} initial={PREFERENCES} onChange={(preferences) => set({ preferences })} />
          <Reinforcement plan={recipe.rl} initial={reinforcement(recipe.trials)} onChange={(rl) => set({ rl })} />
        </Stack>
      </Fieldset>
      <Trials recipe={recipe} onChange={onChange} />
    </Stack>
  );
}

function Sources({ recipe, own, onChange }: Props) {
  const { t } = useI18n();
  const set = (changed: Partial<Recipe>) => onChange({ ...recipe, ...changed });
  return (
    <Fieldset legend={t("flywheel.form.sources")}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Amount label={t("flywheel.form.least")} help={t("flywheel.form.least.help")} value={recipe.least} onChange={(least) => set({ least })} min={0} max={100_000} />
          <Amount label={t("flywheel.form.most")} help={t("flywheel.form.most.help")} value={recipe.most} onChange={(most) => set({ most })} min={1} max={100_000} />
        </SimpleGrid>
        <FurtherPools recipe={recipe} own={own} onChange={onChange} />
        <General recipe={recipe} onChange={onChange} />
        <Amount label={t("flywheel.form.passes")} help={t("flywheel.form.passes.help")} value={recipe.passes} onChange={(passes) => set({ passes })} min={0} max={1} step={0.05} />
        {(["accepted_only", "replay", "judge"] as const).map((name) => (
          <Checkbox
            key={name}
            label={t(`flywheel.form.${name}`)}
            description={t(`flywheel.form.${name}.help`)}
            checked={recipe[name]}
            onChange={(event) => set({ [name]: event.currentTarget.checked })}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

/** Pools beside the flywheel's own, and whether each has a specialist. */
function FurtherPools({ recipe, own, onChange }: Props) {
  const { t } = useI18n();
  const pools = useQuery(poolsQuery);
  const chosen = recipe.pools;
  const others = (pools.data ?? []).map(({ name }) => name).filter((name) => name !== own);
  const names = new Set([...others, ...chosen]);
  const apart = recipe.specialists?.weights ?? "none";
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <MultiSelect
        label={t("flywheel.form.pools")}
        description={t("flywheel.form.pools.help")}
        value={[...chosen]}
        onChange={(picked) => onChange({ ...recipe, pools: picked, specialists: picked.length > 0 ? recipe.specialists : null })}
        data={[...names]}
        searchable
      />
      {chosen.length > 0 && recipe.sft !== null && (
        <NativeSelect
          label={t("flywheel.form.specialists")}
          description={t("flywheel.form.specialists.help")}
          value={apart}
          onChange={(event) => {
            const weights = MERGE_WEIGHTS.find((one) => one === event.currentTarget.value);
            onChange({ ...recipe, specialists: weights ? { weights } : null });
          }}
          data={(["none", ...MERGE_WEIGHTS] as const).map((value) => ({ value, label: t(`flywheel.form.specialists.${value}`) }))}
        />
      )}
    </SimpleGrid>
  );
}

/** General data by kind: folders and files that trainings may mix in. */
function General({ recipe, onChange }: Props) {
  const { t } = useI18n();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {GENERAL_KINDS.map((kind) => (
        <TagsInput
          key={kind}
          label={t(`flywheel.form.general.${kind}`)}
          description={t("flywheel.form.general.help")}
          value={[...generalPaths(recipe.general, kind)]}
          onChange={(paths) => onChange({ ...recipe, general: withGeneralPaths(recipe.general, kind, paths) })}
        />
      ))}
    </SimpleGrid>
  );
}

function Likelihood({ phase, plan, initial, onChange }: PlanProps<LikelihoodTraining> & { readonly phase: "sft" | "ct" }) {
  const { t } = useI18n();
  return (
    <>
      <PlanSwitch phase={phase} plan={plan} initial={initial} onChange={onChange} />
      {plan && (
        <SimpleGrid cols={{ base: 2, xs: 3 }}>
          <Cadence plan={plan} onChange={onChange} />
          {(["fresh", "earlier", "own", "general"] as const).map((name) => (
            <Amount
              key={name}
              label={t(`flywheel.form.share.${name}`)}
              value={shareOf(plan, name)}
              onChange={(share) => onChange({ ...plan, shares: { ...plan.shares, [name]: share } })}
              min={0}
              max={1}
              step={0.1}
            />
          ))}
        </SimpleGrid>
      )}
      {plan?.by === "nano" && (
        <Text size="xs" c="dimmed">
          {t("flywheel.form.share.nano")}
        </Text>
      )}
      {plan && (
        <NativeSelect
          label={t("flywheel.form.corrections")}
          value={plan.corrections}
          onChange={(event) => onChange({ ...plan, corrections: WEIGHTINGS.find((one) => one === event.currentTarget.value) ?? "none" })}
          data={WEIGHTINGS.map((value) => ({ value, label: t(`flywheel.form.corrections.${value}`) }))}
        />
      )}
    </>
  );
}

function Reinforcement({ plan, initial, onChange }: PlanProps<ReinforcementTraining>) {
  const { t } = useI18n();
  const play = plan?.play;
  return (
    <>
      <PlanSwitch phase="rl" plan={plan} initial={initial} onChange={onChange} />
      {plan && (
        <SimpleGrid cols={{ base: 2, xs: 3 }}>
          <Cadence plan={plan} onChange={onChange} />
          <NativeSelect
            label={t("flywheel.form.algorithm")}
            value={plan.algorithm}
            onChange={(event) => {
              const algorithm = event.currentTarget.value === "grpo" ? "grpo" : "ppo";
              const group = algorithm === "grpo" ? Math.max(play?.group ?? 1, 4) : (play?.group ?? 1);
              onChange({ ...plan, algorithm, play: play ? { ...play, group } : null });
            }}
            data={[
              { value: "ppo", label: "PPO" },
              { value: "grpo", label: "GRPO" },
            ]}
          />
          {plan.algorithm === "ppo" && (
            <Amount
              label={t("flywheel.form.value_updates")}
              value={valueUpdates(plan)}
              onChange={(value_updates) => onChange({ ...plan, settings: { ...plan.settings, value_updates } })}
              min={0}
              max={1_000_000}
            />
          )}
          {(["from", "to"] as const).map((end, place) => (
            <Amount
              key={end}
              label={t(`flywheel.form.between.${end}`)}
              value={successBounds(plan)[place] ?? place}
              onChange={(bound) => onChange(withSuccessBound(plan, end, bound))}
              min={0}
              max={1}
              step={0.05}
            />
          ))}
          {play && (
            <>
              <Amount label={t("flywheel.form.seeds")} value={play.seeds} onChange={(seeds) => onChange({ ...plan, play: { ...play, seeds, pages: Math.max(seeds, play.pages - (play.pages % seeds)) } })} min={1} max={10_000} />
              <Amount label={t("flywheel.form.group")} value={play.group} onChange={(group) => onChange({ ...plan, play: { ...play, group } })} min={1} max={64} />
              <Amount label={t("flywheel.form.ahead")} value={play.ahead} onChange={(ahead) => onChange({ ...plan, play: { ...play, ahead } })} min={0} max={4} />
            </>
          )}
        </SimpleGrid>
      )}
      {plan && play && (
        <>
          <PlayedTasks play={play} onChange={(changed) => onChange({ ...plan, play: changed })} />
          <Checkbox
            label={t("flywheel.form.judges")}
            description={t("flywheel.form.judges.help")}
            checked={play.judges}
            onChange={(event) => onChange({ ...plan, play: { ...play, judges: event.currentTarget.checked } })}
          />
        </>
      )}
    </>
  );
}

function Trials({ recipe, onChange }: Props) {
  const { t } = useI18n();
  const { trials } = recipe;
  const set = (changed: Partial<Recipe["trials"]>) => onChange({ ...recipe, trials: { ...trials, ...changed } });
  return (
    <Fieldset legend={t("flywheel.form.gate")}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput label={t("flywheel.form.suite")} description={t("flywheel.form.suite.help")} value={trials.suite} onChange={(event) => set({ suite: event.currentTarget.value })} required={trials.world === "bridge" && !trials.source} />
          {trials.world === "bridge" && (
            <TextInput label={t("flywheel.form.source")} description={t("flywheel.form.source.help")} value={trials.source} onChange={(event) => set({ source: event.currentTarget.value, fresh_pages: trials.fresh_pages && isEmpty(event.currentTarget.value) })} placeholder="/data/gate.jsonl" />
          )}
          <TagsInput
            label={t("flywheel.form.tasks")}
            description={t("flywheel.form.tasks.help")}
            value={trials.tasks}
            onChange={(tasks) => set({ tasks })}
            splitChars={[",", " "]}
          />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 2, xs: 4 }}>
          <Amount label={t("flywheel.form.seeds")} value={trials.seeds} onChange={(seeds) => set({ seeds })} min={1} max={10_000} />
          <Amount label={t("flywheel.form.first_seed")} value={trials.first_seed} onChange={(first_seed) => set({ first_seed })} min={0} />
          <Amount label={t("flywheel.form.parallel")} value={trials.parallel} onChange={(parallel) => set({ parallel })} min={1} max={64} />
          <TextInput label={t("flywheel.form.size")} value={trials.size} onChange={(event) => set({ size: event.currentTarget.value })} placeholder="320x240" />
        </SimpleGrid>
        {isEmpty(trials.source) && (
          <Checkbox
            label={t("flywheel.form.fresh_pages")}
            description={t("flywheel.form.fresh_pages.help")}
            checked={trials.fresh_pages}
            onChange={(event) => set({ fresh_pages: event.currentTarget.checked })}
          />
        )}
        <TextInput
          label={t("flywheel.form.server")}
          description={t("flywheel.form.server.help")}
          value={recipe.server}
          onChange={(event) => onChange({ ...recipe, server: event.currentTarget.value })}
        />
        <Switch
          label={t("flywheel.form.activate")}
          description={t("flywheel.form.activate.help")}
          checked={recipe.activate}
          onChange={(event) => onChange({ ...recipe, activate: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  );
}
