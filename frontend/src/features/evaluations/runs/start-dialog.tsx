/** Starts an evaluation: of which tasks, by whom, how often, on how many machines. */
import { Alert, Autocomplete, Button, Group, MultiSelect, NativeSelect, NumberInput, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";

import type { BenchmarkChoices, BenchmarkSuite } from "@/generated/api";
import { useUser } from "@/shared/account/account";
import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";
import { SizeSelect } from "@/shared/ui/size-select";
import { keepOffered } from "@/shared/ui/sizes";
import { TaskGallery } from "@/shared/ui/task-gallery";

import { choicesQuery, useStart } from "./api";
import { canStart } from "./can-start";
import { FILE, firstRequest, firstRevision, POOL, runOf, scriptsOf, type RunRequest } from "./run-request";
import { FileFields } from "./task-file";

const MOST = { seeds: 1_000, parallel: 64, steps: 1_000, seed: 2 ** 31 - 1_001, temperature: 2 };

/** Opens the dialog; the page of the evaluation follows. Only for those who may start one. */
export function StartButton() {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const navigate = useNavigate();
  if (!canStart(useUser())) return null;
  return (
    <>
      <Button size="xs" onClick={() => setOpened(true)}>
        {t("benchmarks.start.open")}
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={t("benchmarks.start.title")} size="lg">
        <StartPanel onCancel={() => setOpened(false)} onStarted={(name) => void navigate(`/evaluations/run:${name}`)} />
      </Dialog>
    </>
  );
}

type PanelProps = { readonly onCancel: () => void; readonly onStarted: (name: string) => void };

function StartPanel(props: PanelProps) {
  const choices = useQuery(choicesQuery);
  if (choices.isPending) return <Loading />;
  if (!choices.data) return <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />;
  return <StartForm choices={choices.data} {...props} />;
}

type FieldsProps = { readonly choices: BenchmarkChoices; readonly request: RunRequest; readonly onChange: (changes: Partial<RunRequest>) => void };

function StartForm({ choices, onCancel, onStarted }: PanelProps & { choices: BenchmarkChoices }) {
  const { t } = useI18n();
  const start = useStart();
  const [request, setRequest] = useState(() => firstRequest(choices));
  const run = runOf(request, choices);
  const submit = useMutation({ mutationFn: start, onSuccess: ({ name }) => onStarted(name) });
  const fields = { choices, request, onChange: (changes: Partial<RunRequest>) => setRequest((before) => withPolicy({ ...before, ...changes }, choices)) };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (run) submit.mutate(run);
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("benchmarks.start.help")}</Text>
        {!choices.reachable && <Alert color="yellow">{t("benchmarks.start.unreachable")}</Alert>}
        <TaskFields {...fields} />
        <PolicyFields {...fields} />
        <CountFields {...fields} />
        <Problem error={submit.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={submit.isPending} disabled={!run}>
            {t("benchmarks.start")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A revision attempts tasks of which none has a script. */
const withPolicy = (request: RunRequest, choices: BenchmarkChoices): RunRequest =>
  request.revision !== "" || scriptsOf(request, choices).some ? request : { ...request, revision: firstRevision(choices) };

function TaskFields({ choices: { suites, pools, images, harness_sets: sets }, request, onChange }: FieldsProps) {
  const { t } = useI18n();
  const suite = suites.find(({ name }) => name === request.benchmark);
  const levels = suite?.levels ?? 1;
  return (
    <>
      <NativeSelect
        label={t("benchmarks.start.tasks")}
        value={request.benchmark}
        onChange={(event) => onChange({ benchmark: event.currentTarget.value, levels: ["1"], size: "", tasks: [] })}
        data={[
          { group: t("benchmarks.start.suites"), items: suites.map(({ name }) => name) },
          { group: t("benchmarks.start.pools"), items: pools.map((name) => ({ value: POOL + name, label: name })) },
          { group: t("benchmarks.start.files"), items: [{ value: FILE, label: t("benchmarks.start.file") }] },
        ].filter(({ items }) => items.length > 0)}
        data-autofocus
      />
      {levels > 1 && (
        <MultiSelect
          label={t("benchmarks.start.levels")}
          description={t("benchmarks.start.levels.help")}
          data={Array.from({ length: levels }, (_, index) => String(index + 1))}
          value={[...request.levels]}
          onChange={(chosen) => onChange({ levels: chosen })}
        />
      )}
      {suite && <SizeSelect tasks={suite.sizes} chosen={request.tasks} value={request.size} onChange={(size) => onChange({ size })} />}
      {suite && !sets.includes(suite.name) && <TaskChoice key={suite.name} suite={suite} request={request} onChange={onChange} />}
      {request.benchmark === FILE && <FileFields images={images} request={request} onChange={onChange} />}
    </>
  );
}

/** Single tasks of a suite, by their pictures; these are asked for when it is opened. */
function TaskChoice({ suite, request, onChange }: Omit<FieldsProps, "choices"> & { suite: BenchmarkSuite }) {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const choose = (tasks: readonly string[]) => onChange({ tasks, size: keepOffered(request.size, suite.sizes, tasks) });
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{request.tasks.length === 0 ? t("benchmarks.start.all_tasks") : t("benchmarks.start.some_tasks", { names: request.tasks.join(", ") })}</summary>
      {opened && <TaskGallery form={{ suite: suite.name, level: Number(request.levels[0] ?? 1), size: request.size }} chosen={request.tasks} onChange={choose} />}
    </details>
  );
}

function PolicyFields({ choices, request, onChange }: FieldsProps) {
  const { t } = useI18n();
  const { revisions, harness_sets: harnessSets } = choices;
  const scripts = scriptsOf(request, choices);
  const revision = revisions.find(({ id }) => String(id) === request.revision);
  const others = revisions.filter(({ checkpoint }) => checkpoint !== "").map(({ checkpoint }) => checkpoint);
  return (
    <>
      <NativeSelect
        label={t("benchmarks.policy")}
        description={scriptsHelp(scripts, request, t)}
        value={request.revision}
        onChange={(event) => onChange({ revision: event.currentTarget.value, checkpoint: "", checkpointRevision: "" })}
        data={[
          { value: "", label: t("benchmarks.start.expert"), disabled: !scripts.some },
          ...revisions.map((each) => ({ value: String(each.id), label: `${each.name} ${each.revision}` })),
        ]}
      />
      {revision && !revision.scripted && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Autocomplete
            size="xs"
            label={t("benchmarks.start.checkpoint")}
            description={t("benchmarks.start.checkpoint.help")}
            data={[...new Set(others)]}
            value={request.checkpoint}
            onChange={(checkpoint) => onChange({ checkpoint })}
          />
          <TextInput
            label={t("benchmarks.start.checkpoint_revision")}
            description={t("benchmarks.start.checkpoint_revision.help")}
            value={request.checkpointRevision}
            disabled={request.checkpoint === ""}
            onChange={(event) => onChange({ checkpointRevision: event.currentTarget.value })}
          />
        </SimpleGrid>
      )}
      {revision && harnessSets.includes(request.benchmark) && (
        <NativeSelect
          label={t("benchmarks.harness.column")}
          description={t("benchmarks.harness.help")}
          value={request.harness}
          onChange={(event) => onChange({ harness: event.currentTarget.value as RunRequest["harness"] })}
          data={(["", "both", "text"] as const).map((value) => ({ value, label: t(`benchmarks.harness.${value === "" ? "none" : value}`) }))}
        />
      )}
    </>
  );
}

function scriptsHelp({ some, count }: ReturnType<typeof scriptsOf>, { revision }: RunRequest, t: Translate): string | null {
  if (!some) return t("benchmarks.start.expert.none");
  if (revision !== "") return null;
  if (count === null) return t("benchmarks.start.expert.help");
  return count.scripted === count.tasks ? null : t("benchmarks.start.expert.some", { count: count.scripted, all: count.tasks });
}

function CountFields({ request, onChange }: FieldsProps) {
  const { t } = useI18n();
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <Count label={t("benchmarks.start.seeds")} help={t("benchmarks.start.seeds.help")} value={request.seeds} most={MOST.seeds} onChange={(seeds) => onChange({ seeds })} />
      <Count
        label={t("benchmarks.start.first_seed")}
        help={t("benchmarks.start.first_seed.help")}
        value={request.firstSeed}
        least={0}
        most={MOST.seed}
        onChange={(firstSeed) => onChange({ firstSeed })}
      />
      <Count
        label={t("benchmarks.start.parallel")}
        help={t("benchmarks.start.parallel.help")}
        value={request.parallel}
        most={MOST.parallel}
        onChange={(parallel) => onChange({ parallel })}
      />
      <NumberInput
        label={t("benchmarks.start.steps")}
        description={t("benchmarks.start.steps.help")}
        min={1}
        max={MOST.steps}
        allowDecimal={false}
        value={request.steps}
        onChange={(value) => onChange({ steps: value === "" ? "" : Number(value) })}
      />
      <NumberInput
        label={t("benchmarks.start.temperature")}
        description={t("benchmarks.start.temperature.help")}
        min={0}
        max={MOST.temperature}
        step={0.1}
        disabled={request.revision === ""}
        value={request.temperature}
        onChange={(value) => onChange({ temperature: value === "" ? "" : Number(value) })}
      />
    </SimpleGrid>
  );
}

type CountProps = { label: string; help: string; value: number; least?: number; most: number; onChange: (value: number) => void };

function Count({ label, help, value, least = 1, most, onChange }: CountProps) {
  return (
    <NumberInput
      label={label}
      description={help}
      min={least}
      max={most}
      allowDecimal={false}
      clampBehavior="strict"
      value={value}
      onChange={(next) => onChange(Number(next) || least)}
      required
    />
  );
}
