/** Starts a run: of which tasks, by whom, how often, on how many machines. */
import { Alert, Button, Checkbox, Group, NativeSelect, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { BenchmarkChoices, BenchmarkRunIn } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { choicesQuery, useStart } from "./api";

const POOL = "pool:";
type Harness = NonNullable<BenchmarkRunIn["harness"]> | "";
const MOST = { seeds: 1_000, parallel: 64, steps: 1_000 };

export function StartDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("benchmarks.start.title")} size="lg">
      <StartPanel onDone={onClose} />
    </Dialog>
  );
}

function StartPanel({ onDone }: { onDone: () => void }) {
  const choices = useQuery(choicesQuery);
  if (choices.isPending) return <Loading />;
  if (!choices.data) return <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />;
  return <StartForm choices={choices.data} onDone={onDone} />;
}

function StartForm({ choices: { reachable, suites, pools, revisions, harness_sets: harnessSets }, onDone }: { choices: BenchmarkChoices; onDone: () => void }) {
  const { t } = useI18n();
  const start = useStart();
  const [benchmark, setBenchmark] = useState(suites[0] ?? (pools[0] === undefined ? "" : POOL + pools[0]));
  const [revision, setRevision] = useState("");
  const [seeds, setSeeds] = useState(1);
  const [parallel, setParallel] = useState(2);
  const [steps, setSteps] = useState<number | "">("");
  const [levels, setLevels] = useState(false);
  const [chosenHarness, setHarness] = useState<Harness>("");
  const canHarness = revision !== "" && harnessSets.includes(benchmark);
  const submit = useMutation({
    mutationFn: () =>
      start({
        benchmark,
        revision: revision === "" ? null : Number(revision),
        seeds,
        parallel,
        max_steps: steps === "" ? null : steps,
        all_levels: levels && !benchmark.startsWith(POOL),
        harness: canHarness && chosenHarness !== "" ? chosenHarness : null,
      }),
    onSuccess: onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit.mutate();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("benchmarks.start.help")}</Text>
        {!reachable && <Alert color="yellow">{t("benchmarks.start.unreachable")}</Alert>}
        <NativeSelect
          label={t("benchmarks.start.tasks")}
          value={benchmark}
          onChange={(event) => setBenchmark(event.currentTarget.value)}
          data={[
            { group: t("benchmarks.start.suites"), items: [...suites] },
            { group: t("benchmarks.start.pools"), items: pools.map((name) => ({ value: POOL + name, label: name })) },
          ].filter(({ items }) => items.length > 0)}
          data-autofocus
        />
        <NativeSelect
          label={t("benchmarks.policy")}
          value={revision}
          onChange={(event) => setRevision(event.currentTarget.value)}
          data={[
            { value: "", label: t("benchmarks.start.expert") },
            ...revisions.map((each) => ({ value: String(each.id), label: `${each.name} ${each.revision}` })),
          ]}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          <Count label={t("benchmarks.start.seeds")} help={t("benchmarks.start.seeds.help")} value={seeds} most={MOST.seeds} onChange={setSeeds} />
          <Count label={t("benchmarks.start.parallel")} help={t("benchmarks.start.parallel.help")} value={parallel} most={MOST.parallel} onChange={setParallel} />
          <NumberInput
            label={t("benchmarks.start.steps")}
            description={t("benchmarks.start.steps.help")}
            min={1}
            max={MOST.steps}
            allowDecimal={false}
            value={steps}
            onChange={(value) => setSteps(value === "" ? "" : Number(value))}
          />
        </SimpleGrid>
        {!benchmark.startsWith(POOL) && (
          <Checkbox label={t("benchmarks.start.levels")} checked={levels} onChange={(event) => setLevels(event.currentTarget.checked)} />
        )}
        {canHarness && (
          <NativeSelect
            label={t("benchmarks.harness.column")}
            description={t("benchmarks.harness.help")}
            value={chosenHarness}
            onChange={(event) => setHarness(event.currentTarget.value as Harness)}
            data={(["", "both", "text"] as const).map((value) => ({ value, label: t(`benchmarks.harness.${value === "" ? "none" : value}`) }))}
          />
        )}
        <Problem error={submit.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={submit.isPending} disabled={benchmark === ""}>
            {t("benchmarks.start")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type CountProps = { label: string; help: string; value: number; most: number; onChange: (value: number) => void };

function Count({ label, help, value, most, onChange }: CountProps) {
  return (
    <NumberInput
      label={label}
      description={help}
      min={1}
      max={most}
      allowDecimal={false}
      clampBehavior="strict"
      value={value}
      onChange={(next) => onChange(Number(next) || 1)}
      required
    />
  );
}
