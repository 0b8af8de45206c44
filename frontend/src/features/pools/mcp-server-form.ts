/** The form of an MCP server: its fields, and the server they describe. */
import type { McpServerIn, PoolMcpServer } from "@/generated/api";
import { ApiError } from "@/shared/api/http";

type Server = McpServerIn["server"];

export type ServerForm = {
  readonly name: string;
  readonly transport: Server["transport"];
  readonly command: string;
  /** One per line. */
  readonly args: string;
  readonly url: string;
  readonly values: readonly { readonly key: string; readonly name: string; readonly value: string }[];
};

export const EMPTY_FORM: ServerForm = { name: "", transport: "stdio", command: "", args: "", url: "", values: [] };

const valuesOf = (server: Server): Readonly<Record<string, string>> => (server.transport === "stdio" ? server.env : server.headers) ?? {};

/** A server as it can be edited. */
export function formOf({ name, server }: PoolMcpServer): ServerForm {
  const values = Object.entries(valuesOf(server)).map(([each, value]) => ({ key: each, name: each, value }));
  if (server.transport === "http") return { ...EMPTY_FORM, name, transport: "http", url: server.url, values };
  return { ...EMPTY_FORM, name, command: server.command, args: (server.args ?? []).join("\n"), values };
}

/** The server of a form, without empty lines and rows. */
export function serverOf(form: ServerForm): Server {
  const values = Object.fromEntries(form.values.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]));
  if (form.transport === "http") return { transport: "http", url: form.url.trim(), headers: values };
  const args = form.args.split("\n").filter((line) => line !== "");
  return { transport: "stdio", command: form.command.trim(), args, env: values };
}

/** The URL of a server, or its command on one line. */
export function targetOf({ server }: PoolMcpServer): string {
  return server.transport === "http" ? server.url : [server.command, ...(server.args ?? [])].join(" ");
}

/** The names of its environment or headers. */
export const valueNames = ({ server }: PoolMcpServer): readonly string[] => Object.keys(valuesOf(server));

/** Errors by field: `values.NAME` for one value, `values` for all of them. */
export type FieldErrors = Readonly<Record<string, string>>;

const FIELDS = /^(name|command|args|url|values)\b/;

/** The errors of a refusal by field; null if it is about anything but the form's fields. */
export function fieldErrors(error: Error | null): FieldErrors | null {
  const extra = error instanceof ApiError ? (error.extra as { fields?: readonly { field: string; message: string }[] } | null) : null;
  const found: Record<string, string> = {};
  for (const { field, message } of extra?.fields ?? []) {
    const [first = "", ...rest] = field.replace(/^(path|server\.(stdio|http))\.?/, "").split(".");
    const values = first === "env" || first === "headers";
    found[values ? ["values", ...rest.filter((part) => part !== "[key]")].join(".") : first] = message;
  }
  const known = Object.keys(found).filter((field) => FIELDS.test(field));
  return known.length > 0 && known.length === Object.keys(found).length ? found : null;
}
