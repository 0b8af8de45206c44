/** Adds a judge: which model is asked, where, and how its votes make a score. */
import { Button, Checkbox, Group, NativeSelect, NumberInput, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { JudgeIn } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

const COMBINATIONS = ["mean", "majority", "unanimous"] as const;
const METHODS = ["single", "key_points"] as const;
const TEXTS = ["name", "revision", "base_url", "model"] as const;
/** As `JudgeSettings` has them. */
const MAX_VOTES = 16;
const MAX_TOKENS = 32_768;
const MAX_IMAGES = 64;
const MAX_TEMPERATURE = 2;
const MAX_RATING = 5;
const DEFAULTS = {
  votes: 1,
  combine: "mean",
  temperature: 0,
  max_tokens: 1024,
  images: 5,
  method: "single",
  rating_threshold: 3,
} as const;
const EMPTY = { name: "", revision: "1", base_url: "", model: "", api_key: "" };

type Kind = JudgeIn["kind"];
/** A kind that is missing here fails the type check. */
const KINDS = Object.keys({ outcome_model: 0, reference: 0, screen: 0 } satisfies Record<Kind, number>) as Kind[];
type NumberSetting = "votes" | "temperature" | "max_tokens" | "images" | "rating_threshold";
type Settings = Required<NonNullable<JudgeIn["settings"]>>;

export function CreateJudgeDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("judges.new.title")} size="lg">
      <CreateJudgeForm onDone={onClose} />
    </Dialog>
  );
}

function CreateJudgeForm({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [kind, setKind] = useState<Kind>("outcome_model");
  const [texts, setTexts] = useState(EMPTY);
  const [settings, setSettings] = useState<Settings>(DEFAULTS);
  const [scripted, setScripted] = useState(false);
  const setText = (name: keyof typeof EMPTY) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setTexts((before) => ({ ...before, [name]: value }));
  };
  const setNumber = (name: NumberSetting) => (value: string | number) =>
    setSettings((before) => ({ ...before, [name]: typeof value === "number" ? value : DEFAULTS[name] }));
  const sameVotes = settings.votes > 1 && settings.temperature === 0;
  const usable = TEXTS.every((name) => texts[name].trim() !== "") && !sameVotes;
  const submit = () => {
    const { api_key, ...given } = Object.fromEntries(
      Object.entries(texts).map(([name, value]) => [name, value.trim()]),
    ) as typeof EMPTY;
    const key = api_key === "" || scripted ? {} : { api_key };
    change.mutate({ type: "create", judge: { ...given, ...key, kind, settings, scripted } }, { onSuccess: onDone });
  };
  const number = (name: NumberSetting, min: number, max: number, step = 1) => (
    <NumberInput
      label={t(`judges.settings.${name}`)}
      description={t(`judges.settings.${name}.help`)}
      value={settings[name]}
      onChange={setNumber(name)}
      min={min}
      max={max}
      step={step}
      allowDecimal={step < 1}
      clampBehavior="strict"
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("judges.new.help")}</Text>
        <NativeSelect
          label={t("judges.kind")}
          description={t(`judges.kind.${kind}.help`)}
          value={kind}
          onChange={(event) => setKind(KINDS.find((each) => each === event.currentTarget.value) ?? "outcome_model")}
          data={KINDS.map((value) => ({ value, label: t(`judges.kind.${value}`) }))}
          data-autofocus
        />
        {TEXTS.map((name) => (
          <TextInput
            key={name}
            label={t(`judges.new.${name}`)}
            placeholder={name === "base_url" ? "http://127.0.0.1:8000/v1" : undefined}
            value={texts[name]}
            onChange={setText(name)}
            required
          />
        ))}
        {!scripted && (
          <PasswordInput
            label={t("judges.new.api_key")}
            description={t("judges.new.api_key.help")}
            autoComplete="off"
            value={texts.api_key}
            onChange={setText("api_key")}
          />
        )}
        {number("votes", 1, MAX_VOTES)}
        <NativeSelect
          label={t("judges.settings.combine")}
          disabled={settings.votes === 1}
          value={settings.combine}
          onChange={(event) => {
            const combine = COMBINATIONS.find((each) => each === event.currentTarget.value) ?? "mean";
            setSettings((before) => ({ ...before, combine }));
          }}
          data={COMBINATIONS.map((value) => ({ value, label: t(`judges.settings.combine.${value}`) }))}
        />
        {number("temperature", 0, MAX_TEMPERATURE, 0.1)}
        {sameVotes && (
          <Text size="sm" c="red" role="alert">
            {t("judges.settings.same_votes")}
          </Text>
        )}
        {kind === "screen" && (
          <NativeSelect
            label={t("judges.settings.method")}
            description={t(`judges.settings.method.${settings.method}.help`)}
            value={settings.method}
            onChange={(event) => {
              const method = METHODS.find((each) => each === event.currentTarget.value) ?? "single";
              setSettings((before) => ({ ...before, method }));
            }}
            data={METHODS.map((value) => ({ value, label: t(`judges.settings.method.${value}`) }))}
          />
        )}
        {kind === "screen" && settings.method === "key_points" && number("rating_threshold", 1, MAX_RATING)}
        {number("images", 0, MAX_IMAGES)}
        {number("max_tokens", 1, MAX_TOKENS)}
        <Checkbox label={t("judges.new.scripted")} checked={scripted} onChange={(event) => setScripted(event.currentTarget.checked)} />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={!usable} loading={change.isPending}>
            {t("judges.new.confirm")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
