/** API calls with their equivalents for curl and for the Python client. */
import type { Method, RouteBody } from "@/shared/api/http";
import { useI18n, type PlainKey } from "@/shared/i18n/i18n";

import styles from "./api-calls.module.css";
import { Snippet } from "./snippet";

type CallMethod = Exclude<Method, "HEAD">;

export interface ApiCall {
  readonly title: PlainKey;
  readonly method: CallMethod;
  /** Below `/api`. */
  readonly path: string;
  readonly body?: object;
}

/** Parts of a body may be left out where the server has defaults: the schema of a model that answers have too says that they are required. */
type Shortened<T> = T extends readonly (infer Item)[]
  ? readonly Shortened<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Shortened<T[Key]> }
    : T;
type Example<T> = { readonly [Key in keyof T]: Shortened<T[Key]> };
type Body<T> = undefined extends T ? [] : T extends string ? [body: never] : [body: Example<T>];

/** Stands for the id of something that the caller has to name. */
export const ID = "ID" as string;

/**
 * Describes a call of the API. Path and body are checked against the API's own schema, as those of `request`; write the path as one template.
 *
 * @param title Says what the call does.
 */
export const apiCall = <M extends CallMethod, Path extends string>(
  title: PlainKey,
  method: M,
  path: Path,
  ...body: Body<RouteBody<M, Path>>
): ApiCall => ({ title, method, path: path.replace(/\?$/, ""), ...bodyOf(body) });

const bodyOf = ([body]: readonly [] | readonly [object]): Pick<ApiCall, "body"> => (body ? { body } : {});

/** The calls in a closed disclosure. */
export function ApiCalls({ calls }: { calls: readonly ApiCall[] }) {
  const { t } = useI18n();
  return (
    <details className={styles.calls}>
      <summary>{t("api_calls.title")}</summary>
      <ApiCallList calls={calls} />
    </details>
  );
}

export function ApiCallList({ calls }: { calls: readonly ApiCall[] }) {
  const { t } = useI18n();
  return (
    <>
      <p className={styles.note}>{t("api_calls.help")}</p>
      {calls.map((call) => (
        <section key={`${call.method} ${call.path}`} aria-label={t(call.title)}>
          <h3 className={styles.title}>{t(call.title)}</h3>
          <Snippet name="curl" text={curlOf(call)} />
          <Snippet name="Python" text={pythonOf(call)} />
        </section>
      ))}
    </>
  );
}

/** Quotes a word for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method, path, body }: Omit<ApiCall, "title">): string {
  const words = ["curl", "--fail-with-body", '-H "Authorization: Bearer $PILOTHOUSE_TOKEN"'];
  if (method !== "GET") words.push(`-X ${method}`);
  if (body) words.push(`--json ${quoted(JSON.stringify(body))}`);
  return [...words, quoted(`${window.location.origin}/api${path}`)].join(" ");
}

export function pythonOf({ method, path, body }: Omit<ApiCall, "title">): string {
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
