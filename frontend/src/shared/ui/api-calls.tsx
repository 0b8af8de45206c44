/** The API calls equivalent to a page, for curl and for the Python client, in a closed disclosure. */
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./api-calls.module.css";
import { Snippet } from "./snippet";

export interface ApiCall {
  readonly title: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/api`. */
  readonly path: string;
  readonly body?: object;
}

export function ApiCalls({ calls }: { calls: readonly ApiCall[] }) {
  const { t } = useI18n();
  return (
    <details className={styles.calls}>
      <summary>{t("api_calls.title")}</summary>
      <p className={styles.note}>{t("api_calls.help")}</p>
      {calls.map((call) => (
        <section key={`${call.method} ${call.path}`} aria-label={call.title}>
          <h3 className={styles.title}>{call.title}</h3>
          <Snippet name="curl" text={curlOf(call)} />
          <Snippet name="Python" text={pythonOf(call)} />
        </section>
      ))}
    </details>
  );
}

/** Quotes a word for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method, path, body }: ApiCall): string {
  const words = ["curl", "--fail-with-body", '-H "Authorization: Bearer $PILOTHOUSE_TOKEN"'];
  if (method !== "GET") words.push(`-X ${method}`);
  if (body) words.push(`--json ${quoted(JSON.stringify(body))}`);
  return [...words, quoted(`${window.location.origin}/api${path}`)].join(" ");
}

export function pythonOf({ method, path, body }: ApiCall): string {
  const given = [JSON.stringify(method), JSON.stringify(path), ...(body ? [pythonLiteral(body)] : [])].join(", ");
  return `from annotation_app.client import Pilothouse\n\nwith Pilothouse(${JSON.stringify(window.location.origin)}) as client:\n    print(client.call(${given}))`;
}

/** JSON as Python writes it: only its three words differ. */
function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${pythonLiteral(each)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}
