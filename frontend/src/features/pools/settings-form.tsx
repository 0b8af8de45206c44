/** Makes a pool, or changes the settings of one or several; what somebody else changed meanwhile is said and nothing overwritten. */
import { Button, Checkbox, Group, NumberInput, Select, Stack, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { choicesQuery, revisionsQuery, type Settings } from "./api";
import { HostedModelFields } from "./hosted-model-fields";
import { HoursFields } from "./hours-fields";
import styles from "./pools.module.css";
import { changesOf, differencesOf } from "./settings";
import { useBulkChange } from "./bulk-edit";

const DEFAULT_SETTINGS: Settings = {
  name: "",
  description: "",
  instructions: "",
  platform: "desktop",
  image: "desktop",
  candidates: 3,
  max_steps: 100,
  minutes: null,
  thought_required: true,
  thought_later: false,
  text_continuation: false,
  policy_budget: null,
  unattended_safety_checks: false,
  screenshot_format: "jpeg",
  record: true,
  speculation: false,
  takes_recordings: false,
  practice: false,
  paused: false,
  lease_minutes: 30,
  pause_hours: 8,
  overlap: 1,
  gold_percent: 0,
  review_mode: "all",
  review_percent: 10,
  reviewers: 1,
  priority: 0,
  hours: null,
  consent: "",
  open_to_all: false,
  skills: [],
};
const PLATFORMS = ["desktop", "phone", "browser", "terminal"] as const;
const REVIEWS = ["all", "sample", "none"] as const;

/** Of no pool: of a new one. */
type Props = { readonly opened: boolean; readonly pools: readonly PoolRow[]; readonly onClose: () => void };

export function SettingsDialog({ opened, pools, onClose }: Props) {
  const { t } = useI18n();
  const [first] = pools;
  const one = first ? t("pools.edit_title", { pool: first.settings.name }) : t("pools.new");
  const title = pools.length > 1 ? t("pools.edit_several", { count: pools.length }) : one;
  return (
    <Dialog opened={opened} onClose={onClose} title={title} size="xl">
      {opened && <SettingsForm pools={pools} onDone={onClose} />}
    </Dialog>
  );
}

/** Of several pools what was touched is set in all of them, also where that is what the first one has. */
function SettingsForm({ pools, onDone }: { readonly pools: readonly PoolRow[]; readonly onDone: () => void }) {
  const { t } = useI18n();
  const { change, changeAll } = useBulkChange();
  const [initial] = useState(pools);
  const [first] = initial;
  const several = initial.length > 1;
  const before: Settings = first?.settings ?? DEFAULT_SETTINGS;
  const [touched, setTouched] = useState<Partial<Settings>>({});
  const draft: Settings = { ...before, ...touched };
  const [policy, setPolicy] = useState<string | null>(null);
  const set = (changed: Partial<Settings>) => setTouched({ ...touched, ...changed });
  const changes = several ? touched : changesOf(before, draft);
  const submit = () => {
    if (several) changeAll(initial, changes, onDone);
    else if (first) change.mutate({ type: "change", pools: [first], changes }, { onSuccess: onDone });
    else change.mutate({ type: "create", settings: draft, policy: policy === null ? null : Number(policy) }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        {several ? <Differences pools={initial} /> : <NameFields draft={draft} onChange={set} />}
        <Textarea
          label={t("pools.instructions")}
          description={t("pools.markdown")}
          value={draft.instructions}
          onChange={(event) => set({ instructions: event.currentTarget.value })}
          autosize
          minRows={2}
          maxRows={10}
        />
        {first && !several && <Text size="sm">{t("pools.policy.elsewhere", { policy: first.policy || t("pools.policy.nobody") })}</Text>}
        {!first && <PolicySelect value={policy} onChange={setPolicy} />}
        <MachineFields draft={draft} onChange={set} fixed={initial.some(({ tasks }) => Object.values(tasks).some((count) => count > 0))} />
        <WorkFields draft={draft} onChange={set} />
        <HostedModelFields draft={draft} onChange={set} spent={initial.reduce((sum, pool) => sum + pool.policy_spent, 0)} />
        <PeopleFields draft={draft} onChange={set} />
        <HoursFields hours={draft.hours} onChange={(hours) => set({ hours })} />
        <Textarea
          label={t("pools.consent")}
          description={t("pools.consent.help")}
          value={draft.consent}
          onChange={(event) => set({ consent: event.currentTarget.value })}
          autosize
          minRows={2}
          maxRows={10}
        />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={change.isPending} disabled={first !== undefined && Object.keys(changes).length === 0}>
            {t(first ? "pools.save" : "pools.make")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function PolicySelect({ value, onChange }: { readonly value: string | null; readonly onChange: (value: string | null) => void }) {
  const { t } = useI18n();
  const revisions = useQuery(revisionsQuery).data ?? [];
  return (
    <Select
      label={t("pools.policy")}
      placeholder={t("pools.policy.nobody")}
      data={revisions.filter((revision) => !revision.retired).map(({ id, policy }) => ({ value: String(id), label: `${policy.name} ${policy.revision}` }))}
      value={value}
      onChange={onChange}
      clearable
    />
  );
}

type Fields = { readonly draft: Settings; readonly onChange: (changed: Partial<Settings>) => void };

function NameFields({ draft, onChange }: Fields) {
  const { t } = useI18n();
  return (
    <>
      <TextInput label={t("pools.name")} value={draft.name} onChange={(event) => onChange({ name: event.currentTarget.value })} required data-autofocus />
      <TextInput label={t("pools.description")} value={draft.description} onChange={(event) => onChange({ description: event.currentTarget.value })} />
    </>
  );
}

/** In what these pools differ: the form begins with what the first of them has. */
function Differences({ pools }: { readonly pools: readonly PoolRow[] }) {
  const { t, language } = useI18n();
  const different = differencesOf(pools.map(({ settings }) => settings)).map((name) => t(name));
  return (
    <Text size="sm">
      {t("pools.edit_several.help")}{" "}
      {different.length > 0 && t("pools.edit_several.differ", { what: new Intl.ListFormat(language).format(different) })}
    </Text>
  );
}

function MachineFields({ draft, onChange, fixed }: Fields & { readonly fixed: boolean }) {
  const { t } = useI18n();
  return (
    <div className={styles.two}>
      <Select
        label={t("pools.platform")}
        data={PLATFORMS.map((value) => ({ value, label: t(`platform.${value}`) }))}
        value={draft.platform}
        onChange={(value) => {
          const platform = PLATFORMS.find((each) => each === value);
          if (platform) onChange({ platform, image: draft.image === draft.platform ? platform : draft.image });
        }}
        disabled={fixed}
        allowDeselect={false}
      />
      <ImageSelect draft={draft} onChange={onChange} />
      <IntegerInput name="candidates" label={t("pools.candidates")} min={1} max={16} draft={draft} onChange={onChange} />
      <Select
        label={t("pools.screenshots")}
        data={["jpeg", "png"]}
        value={draft.screenshot_format}
        onChange={(value) => onChange({ screenshot_format: value === "png" ? "png" : "jpeg" })}
        allowDeselect={false}
      />
      <Checkbox label={t("pools.practice")} checked={draft.practice} disabled={fixed} onChange={(event) => onChange({ practice: event.currentTarget.checked })} />
      <Checkbox
        label={t("pools.record")}
        description={t("pools.record.help")}
        checked={draft.record}
        onChange={(event) => onChange({ record: event.currentTarget.checked })}
      />
      <Checkbox
        label={t("pools.speculation")}
        description={t("pools.speculation.help")}
        checked={draft.speculation}
        onChange={(event) => onChange({ speculation: event.currentTarget.checked })}
      />
      <Checkbox
        label={t("pools.takes_recordings")}
        description={t("pools.takes_recordings.help")}
        checked={draft.takes_recordings}
        onChange={(event) => onChange({ takes_recordings: event.currentTarget.checked })}
      />
    </div>
  );
}

/** Of what hosts report; the image a pool has stays in the list also where no host makes it. */
function ImageSelect({ draft, onChange }: Fields) {
  const { t } = useI18n();
  const choices = useQuery(choicesQuery).data;
  const images = choices?.images ?? [];
  if (choices !== undefined && images.length === 0) {
    return (
      <TextInput
        label={t("pools.image")}
        description={t(choices.reachable ? "pools.image.no_host" : "pools.image.unreachable")}
        value={draft.image}
        onChange={(event) => onChange({ image: event.currentTarget.value })}
        required
      />
    );
  }
  const missing = choices !== undefined && !images.includes(draft.image);
  return (
    <Select
      label={t("pools.image")}
      data={missing || choices === undefined ? [...images, draft.image] : images}
      value={draft.image}
      error={missing ? t("pools.image.missing") : undefined}
      onChange={(image) => image !== null && onChange({ image })}
      allowDeselect={false}
      searchable
    />
  );
}

function WorkFields({ draft, onChange }: Fields) {
  const { t } = useI18n();
  const shared = { draft, onChange };
  return (
    <div className={styles.two}>
      <IntegerInput name="max_steps" label={t("pools.max_steps")} min={1} max={1_000} {...shared} />
      <NumberInput
        label={t("pools.minutes")}
        placeholder={t("pools.no_limit")}
        value={draft.minutes ?? ""}
        onChange={(value) => onChange({ minutes: typeof value === "number" ? value : null })}
        min={1}
        max={10_000}
        allowDecimal={false}
      />
      <IntegerInput name="overlap" label={t("pools.overlap")} min={1} max={20} {...shared} />
      <IntegerInput name="gold_percent" label={t("pools.gold_percent")} min={0} max={100} {...shared} />
      <Select
        label={t("pools.review")}
        data={REVIEWS.map((value) => ({ value, label: t(`pools.review.${value}`) }))}
        value={draft.review_mode}
        onChange={(value) => onChange({ review_mode: REVIEWS.find((each) => each === value) ?? "all" })}
        allowDeselect={false}
      />
      {draft.review_mode === "sample" && <IntegerInput name="review_percent" label={t("pools.review_percent")} min={0} max={100} {...shared} />}
      {draft.review_mode !== "none" && (
        <Checkbox
          label={t("pools.reviewers")}
          description={t("pools.reviewers.help")}
          checked={draft.reviewers === 2}
          onChange={(event) => onChange({ reviewers: event.currentTarget.checked ? 2 : 1 })}
        />
      )}
      <IntegerInput name="lease_minutes" label={t("pools.lease_minutes")} min={1} max={10_000} {...shared} />
      <IntegerInput name="pause_hours" label={t("pools.pause_hours")} min={1} max={1_000} {...shared} />
      <Checkbox
        label={t("pools.thought_required")}
        checked={draft.thought_required}
        onChange={(event) => onChange({ thought_required: event.currentTarget.checked })}
      />
      {draft.thought_required && (
        <Checkbox
          label={t("pools.thought_later")}
          description={t("pools.thought_later.help")}
          checked={draft.thought_later}
          onChange={(event) => onChange({ thought_later: event.currentTarget.checked })}
        />
      )}
      <Checkbox
        label={t("pools.text_continuation")}
        description={t("pools.text_continuation.help")}
        checked={draft.text_continuation}
        onChange={(event) => onChange({ text_continuation: event.currentTarget.checked })}
      />
    </div>
  );
}

function PeopleFields({ draft, onChange }: Fields) {
  const { t } = useI18n();
  return (
    <div className={styles.two}>
      <IntegerInput name="priority" label={t("pools.priority")} min={-1_000} max={1_000} draft={draft} onChange={onChange} />
      <TagsInput label={t("pools.skills")} description={t("pools.skills.help")} value={draft.skills} onChange={(skills) => onChange({ skills })} />
      <Checkbox label={t("pools.open_to_all")} checked={draft.open_to_all} onChange={(event) => onChange({ open_to_all: event.currentTarget.checked })} />
      <Checkbox label={t("pools.paused")} checked={draft.paused} onChange={(event) => onChange({ paused: event.currentTarget.checked })} />
    </div>
  );
}

type IntegerSetting = "candidates" | "max_steps" | "overlap" | "gold_percent" | "review_percent" | "priority" | "lease_minutes" | "pause_hours";

/** A whole number; while it is emptied the last one stands. */
function IntegerInput({ name, label, min, max, draft, onChange }: Fields & { name: IntegerSetting; label: string; min: number; max: number }) {
  return (
    <NumberInput
      label={label}
      value={draft[name]}
      onChange={(value) => typeof value === "number" && onChange({ [name]: value })}
      min={min}
      max={max}
      allowDecimal={false}
    />
  );
}
