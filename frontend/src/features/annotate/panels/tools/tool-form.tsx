/** The arguments of one tool, as fields or as JSON, and the button that calls it. */
import { Button, Checkbox, Select, Textarea, TextInput } from "@mantine/core";
import { useState, type KeyboardEvent, type SyntheticEvent } from "react";

import type { Tool } from "@/generated/vocabulary";
import type { Texts } from "@/session/drafts";
import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { argumentsFrom, fieldsOf, fromJson, isObject, type Fault, type Field, type ParsedArguments } from "./schema";
import styles from "./tools.module.css";

/** What all arguments together are called where they are written as one JSON object. */
const ARGUMENTS_FIELD = "arguments";

export function ToolForm({ tool }: { tool: Tool }) {
  const { t } = useI18n();
  const { canAct, perform, drafts, episode } = useWorkspace();
  const fields = fieldsOf(tool);
  const { texts, change } = useTexts<Texts>(drafts, episode.id, `tool.${tool.name}`, {});
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const filled = fields === null ? parseArguments(texts[ARGUMENTS_FIELD] ?? "{}") : argumentsFrom(fields, texts);
    setFaults(filled.ok ? [] : filled.faults);
    if (!filled.ok) return;
    drafts.saveTexts(episode.id, `tool.${tool.name}`, null); // sent; the form keeps them for the next call
    perform({ kind: "call_tool", name: tool.name, arguments: { ...filled.values } });
  };
  const visibleFields: readonly Field[] = fields ?? [{ name: ARGUMENTS_FIELD, title: t("tools.arguments"), help: JSON.stringify(tool.parameters), kind: "json", required: true, choices: [], initial: "{}" }];
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <h3>{tool.name}</h3>
      {tool.description && <p className={styles.about}>{tool.description}</p>}
      {visibleFields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          text={texts[field.name] ?? field.initial}
          onText={(text) => change({ [field.name]: text })}
          fault={faults.find(({ name }) => name === field.name) ?? null}
        />
      ))}
      <Button type="submit" disabled={!canAct}>{t("tools.call")}</Button>
    </form>
  );
}

function parseArguments(text: string): ParsedArguments {
  const value = fromJson(text);
  return isObject(value) ? { ok: true, values: value } : { ok: false, faults: [{ name: ARGUMENTS_FIELD, reason: "wrong" }] };
}

interface InputProps {
  readonly field: Field;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly fault: Fault | null;
}

function FieldInput({ field, text, onText, fault }: InputProps) {
  const { t } = useI18n();
  const common = {
    label: field.title,
    description: field.help || undefined,
    required: field.required,
    error: fault === null ? undefined : t(`tools.${fault.reason}`),
    onKeyDown: submitOnEnter,
  };
  switch (field.kind) {
    case "choice":
      return <Select {...common} value={text || null} data={field.choices.map((value) => ({ value, label: describeChoice(value) }))} onChange={(value) => onText(value ?? "")} clearable={!field.required} />;
    case "boolean":
      return <Checkbox size="xs" label={field.title} description={field.help || undefined} checked={text === "true"} onChange={(event) => onText(String(event.currentTarget.checked))} />;
    case "number":
    case "integer":
      return <TextInput {...common} inputMode="decimal" value={text} onChange={(event) => onText(event.currentTarget.value)} />;
    case "json":
      return <Textarea {...common} className={styles.mono} placeholder="JSON" autosize minRows={1} maxRows={8} value={text} onChange={(event) => onText(event.currentTarget.value)} />;
    default:
      return <Textarea {...common} autosize minRows={1} maxRows={6} value={text} onChange={(event) => onText(event.currentTarget.value)} />;
  }
}

/** Enter in a field of several lines sends the form, with Shift it is a new line. */
function submitOnEnter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || !(event.target instanceof HTMLTextAreaElement)) return;
  event.preventDefault();
  event.target.form?.requestSubmit();
}

function describeChoice(json: string): string {
  const value = fromJson(json);
  return typeof value === "string" ? value : json;
}
