/** The MCP servers of a pool: lists, tries, adds, edits and deletes them. */
import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput, VisuallyHidden } from "@mantine/core";
import { useId, useRef, useState } from "react";

import type { PoolMcpServer, PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange, useServerTrial } from "./api";
import { EMPTY_FORM, fieldErrors, formOf, serverOf, targetOf, valueNames, type FieldErrors, type ServerForm } from "./mcp-server-form";
import styles from "./pools.module.css";

type Props = { readonly pool: PoolRow | null; readonly onClose: () => void };

export function McpServersDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.mcp_of", { pool: pool?.settings.name ?? "" })} size="xl">
      {pool && <Servers pool={pool} />}
    </Dialog>
  );
}

function Servers({ pool }: { readonly pool: PoolRow }) {
  const { t } = useI18n();
  const [form, setForm] = useState<ServerForm>(EMPTY_FORM);
  const known = pool.mcp_servers.some(({ name }) => name === form.name);
  return (
    <Stack gap="sm">
      <Text size="sm">{t("pools.mcp.help")}</Text>
      {pool.mcp_servers.length === 0 ? <Text size="sm">{t("pools.mcp.none")}</Text> : <ServerTable pool={pool} onEdit={(server) => setForm(formOf(server))} />}
      <Editor pool={pool} form={form} known={known} onChange={setForm} />
    </Stack>
  );
}

function ServerTable({ pool, onEdit }: { readonly pool: PoolRow; readonly onEdit: (server: PoolMcpServer) => void }) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <DataTable
      rows={pool.mcp_servers}
      keyOf={({ name }) => name}
      columns={[
        { header: t("pools.mcp.name"), kind: "name", cell: ({ name }) => <code>{name}</code> },
        { header: t("pools.mcp.transport"), cell: ({ server }) => t(`pools.mcp.transport.${server.transport}`) },
        { header: t("pools.mcp.target"), cell: (each) => <code className={styles.target}>{targetOf(each)}</code> },
        { header: t("pools.mcp.values"), cell: (each) => valueNames(each).join(", ") },
        {
          header: t("pools.actions"),
          kind: "actions",
          cell: (each) => (
            <Group gap="xs" wrap="nowrap">
              <Button variant="default" size="compact-xs" aria-label={t("pools.mcp.change_of", { name: each.name })} onClick={() => onEdit(each)}>
                {t("pools.mcp.change")}
              </Button>
              <ConfirmButton
                label={t("pools.mcp.delete")}
                ariaLabel={t("pools.mcp.delete_of", { name: each.name })}
                confirmation={t("pools.mcp.delete.ask", { name: each.name })}
                onConfirm={() => change.mutateAsync({ type: "mcp_server", pool: pool.id, name: each.name, set: null })}
              />
            </Group>
          ),
        },
      ]}
    />
  );
}

type EditorProps = {
  readonly pool: PoolRow;
  readonly form: ServerForm;
  readonly known: boolean;
  readonly onChange: (form: ServerForm) => void;
};

function Editor({ pool, form, known, onChange }: EditorProps) {
  const { t } = useI18n();
  const change = useChange();
  const trial = useServerTrial(pool.id);
  const transport = useId();
  const stdio = form.transport === "stdio";
  const failed = change.error ?? trial.error;
  const found = fieldErrors(failed);
  const errors = found ?? {};
  const incomplete = form.name === "" || (stdio ? form.command.trim() === "" : form.url.trim() === "");
  const edit = (changes: Partial<ServerForm>) => {
    change.reset();
    trial.cancel();
    onChange({ ...form, ...changes });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        trial.cancel();
        change.mutate({ type: "mcp_server", pool: pool.id, name: form.name, set: serverOf(form) }, { onSuccess: () => onChange(EMPTY_FORM) });
      }}
    >
      <Stack gap="sm">
        <TextInput label={t("pools.mcp.name")} description={t("pools.mcp.name.help")} value={form.name} error={errors.name} onChange={(event) => edit({ name: event.currentTarget.value })} />
        <div>
          <Text size="sm" fw={500} id={transport}>
            {t("pools.mcp.transport")}
          </Text>
          <SegmentedControl
            aria-labelledby={transport}
            value={form.transport}
            onChange={(value) => edit({ transport: value === "http" ? "http" : "stdio" })}
            data={(["stdio", "http"] as const).map((value) => ({ value, label: t(`pools.mcp.transport.${value}`) }))}
          />
        </div>
        {stdio ? (
          <Group align="start" grow>
            <TextInput label={t("pools.mcp.command")} description={t("pools.mcp.command.help")} value={form.command} error={errors.command} onChange={(event) => edit({ command: event.currentTarget.value })} />
            <Textarea label={t("pools.mcp.args")} description={t("pools.mcp.args.help")} autosize minRows={1} maxRows={6} value={form.args} error={errors.args} onChange={(event) => edit({ args: event.currentTarget.value })} />
          </Group>
        ) : (
          <TextInput label={t("pools.mcp.url")} description={t("pools.mcp.url.help")} value={form.url} error={errors.url} onChange={(event) => edit({ url: event.currentTarget.value })} />
        )}
        <Values form={form} errors={errors} onChange={(values) => edit({ values })} />
        <Group justify="flex-end">
          {trial.isPending ? (
            <Button variant="default" onClick={trial.cancel}>
              {t("pools.mcp.try.cancel")}
            </Button>
          ) : (
            <Button variant="default" disabled={incomplete} onClick={() => { change.reset(); trial.mutate({ name: form.name, server: serverOf(form) }); }}>
              {t("pools.mcp.try")}
            </Button>
          )}
          <Button type="submit" disabled={incomplete} loading={change.isPending}>
            {t(known ? "pools.mcp.save" : "pools.mcp.add")}
          </Button>
        </Group>
        <TrialResult trial={trial} />
        {found === null ? (
          <Problem error={failed} />
        ) : (
          <VisuallyHidden role="alert">{failed?.message}</VisuallyHidden>
        )}
      </Stack>
    </form>
  );
}

type ValuesProps = { readonly form: ServerForm; readonly errors: FieldErrors; readonly onChange: (values: ServerForm["values"]) => void };

function Values({ form, errors, onChange }: ValuesProps) {
  const { t } = useI18n();
  const group = useRef<HTMLFieldSetElement>(null);
  const { values } = form;
  const put = (place: number, changes: Partial<ServerForm["values"][number]>) =>
    onChange(values.map((each, index) => (index === place ? { ...each, ...changes } : each)));
  return (
    <fieldset className={styles.values} ref={group}>
      <Text component="legend" size="sm" fw={500}>
        {t(form.transport === "stdio" ? "pools.mcp.env" : "pools.mcp.headers")}
      </Text>
      <Text size="xs" c="dimmed">
        {t("pools.mcp.values.help")}
      </Text>
      {values.map((each, place) => (
        <Group key={each.key} gap="xs" wrap="nowrap" align="start">
          <TextInput
            flex={1}
            label={t("pools.mcp.value.name", { number: place + 1 })}
            value={each.name}
            onChange={(event) => put(place, { name: event.currentTarget.value })}
          />
          <TextInput
            flex={2}
            label={t("pools.mcp.value.value", { number: place + 1 })}
            placeholder="secret:NAME"
            autoComplete="off"
            value={each.value}
            error={errors[`values.${each.name.trim()}`]}
            onChange={(event) => put(place, { value: event.currentTarget.value })}
          />
          <Button
            className={styles.remove}
            variant="default"
            aria-label={t("pools.mcp.value.remove_of", { number: place + 1 })}
            onClick={() => {
              onChange(values.filter((_, index) => index !== place));
              group.current?.querySelector<HTMLButtonElement>("button[data-add]")?.focus();
            }}
          >
            {t("pools.mcp.value.remove")}
          </Button>
        </Group>
      ))}
      <div>
        <Button data-add variant="default" size="compact-sm" onClick={() => onChange([...values, { key: crypto.randomUUID(), name: "", value: "" }])}>
          {t("pools.mcp.value.add")}
        </Button>
      </div>
      {errors.values !== undefined && (
        <Text size="xs" c="var(--ph-danger)">
          {errors.values}
        </Text>
      )}
    </fieldset>
  );
}

function TrialResult({ trial }: { readonly trial: ReturnType<typeof useServerTrial> }) {
  const { t } = useI18n();
  const { data, isPending } = trial;
  return (
    <div role="status">
      {isPending && <Text size="sm">{t("pools.mcp.try.pending")}</Text>}
      {data?.outcome === "no_machine" && <Text size="sm">{t("pools.mcp.try.no_machine", { reason: data.reason })}</Text>}
      {data?.outcome === "failed" && <Text size="sm" c="var(--ph-danger)">{t("pools.mcp.try.failed", { reason: data.reason })}</Text>}
      {data?.outcome === "works" && (
        <>
          <Text size="sm">{data.tools.length > 0 ? t("pools.mcp.try.works", { count: data.tools.length }) : t("pools.mcp.try.no_tools")}</Text>
          <ul className={styles.tools}>
            {data.tools.map(({ name, description }) => (
              <li key={name}>
                <code>{name}</code> {description}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
