/** Calls to the web app: JSON or a form in, JSON out, CSRF header, one error class with the server's stable code. */
import type { Routes } from "@/generated/api";
import type { Translate } from "@/shared/i18n/i18n";

/** The server refused; nothing was changed. `code` is stable, `message` is for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly extra: unknown = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** The server could not be reached. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super("network", { cause });
    this.name = "NetworkError";
  }
}

export type Method = "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";

/** A path as its route is named: without the query, and `{}` for each segment that is not written out. */
type Pattern<Path extends string> = Path extends `${infer Before}?${string}`
  ? Pattern<Before>
  : Path extends `${infer Head}/${infer Tail}`
    ? `${Segment<Head>}/${Pattern<Tail>}`
    : Segment<Path>;
type Segment<Text extends string> = Partial<Record<Text, unknown>> extends Record<Text, unknown> ? "{}" : Text; // written out, it is one key

type Route<M extends Method, Path extends string> = RouteNamed<`${M} ${Pattern<Path>}`>;
type RouteNamed<Name extends string> = Name extends keyof Routes ? Routes[Name] : { body: "no such route"; answer: never };

/** What a route takes; a path or a method that the API does not have takes the text "no such route". */
export type RouteBody<M extends Method, Path extends string> = Route<M, Path>["body"];

/** What may be sent where the API takes a T: it is not changed on the way. */
type Sent<T> = T extends FormData ? T : T extends object ? { readonly [Key in keyof T]: Sent<T[Key]> } : T;
type Body<T> = undefined extends T ? [] : [body: Sent<T>];

let csrf = "";
type Gate = (() => Promise<void>) | null;
const gates: { signIn: Gate; reauthentication: Gate } = { signIn: null, reauthentication: null };

/** Remember the token that unsafe calls must carry; it changes with every sign-in. */
export function setCsrf(token: string): void {
  csrf = token;
}

/** Say how somebody signs in again: `ask` resolves when they have. Null takes it away. */
export function setSignInGate(openSignIn: Gate): void {
  gates.signIn = openSignIn;
}

/** Say how somebody proves again that it is they: `ask` resolves when they have, and rejects when they would rather not. */
export function setReauthenticationGate(ask: Gate): void {
  gates.reauthentication = ask;
}

/** Ask the person to sign in again; resolves once they have. For calls the server answered with "not signed in", sockets included. */
export async function signInAgain(): Promise<void> {
  if (!gates.signIn) throw new ApiError(401, "not_signed_in", "Not signed in.");
  await gates.signIn();
}

/**
 * Call a route of the API: path, body and answer are checked against the API's own schema, the query is not. Write the path as
 * one template, so that its type is known. A call refused because the sign-in has ended, or because it needs a fresh proof of who asks, waits for the
 * person to sign in or prove it and is then made once more, so that nothing is lost. Raises ApiError or NetworkError.
 */
export async function request<M extends Method, Path extends string>(
  method: M,
  path: Path,
  ...[body]: Body<Route<M, Path>["body"]>
): Promise<Route<M, Path>["answer"]> {
  const form = (body as unknown) instanceof FormData; // the browser itself says what kind of form it is
  const json = body !== undefined && !form;
  const headers: Record<string, string> = json ? { "Content-Type": "application/json" } : {};
  const response = await requestWithHeaders(method, path, headers, json ? JSON.stringify(body) : form ? body : null);
  return (response.status === 204 ? null : await response.json()) as Route<M, Path>["answer"];
}

/**
 * Call the API with headers or bytes of your own, where the answer's headers count. Signs in again as `request` does.
 * Raises ApiError, NetworkError, or the signal's reason.
 */
export async function requestWithHeaders(
  method: Method,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | FormData | ArrayBuffer | null = null,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const call = () => send(path, { method, headers, body, signal });
  const first = await call();
  if (first.ok) return first;
  const error = await errorOf(first);
  const signedOut = error.code === "not_signed_in" || (method === "HEAD" && error.status === 401); // HEAD is answered without a code
  const unproven = error.code === "reauthentication_required" && gates.reauthentication !== null;
  if (!signedOut && !unproven) throw error;
  await (unproven ? gates.reauthentication?.().catch(() => Promise.reject(error)) : signInAgain());
  const second = await call();
  if (!second.ok) throw await errorOf(second);
  return second;
}

async function send(path: string, { headers, ...init }: RequestInit): Promise<Response> {
  const common: Record<string, string> = { Accept: "application/json" };
  if (init.method !== "GET") common["X-CSRFToken"] = csrf;
  try {
    return await fetch(`/api${path}`, { ...init, headers: { ...common, ...(headers as Record<string, string>) }, credentials: "same-origin" });
  } catch (cause) {
    init.signal?.throwIfAborted();
    throw new NetworkError(cause);
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const { code = `http_${response.status}`, message = response.statusText, extra = null } = isErrorBody(body) ? body : {};
  return new ApiError(response.status, code, message, extra);
}

function isErrorBody(body: unknown): body is { code: string; message: string; extra?: unknown } {
  return typeof body === "object" && body !== null && "code" in body && "message" in body;
}

const KNOWN = ["not_signed_in", "forbidden", "not_found", "too_large", "upload_quota", "upload_space"] as const;

/** An error in the reader's language where we know it, in the server's words where it explains itself. */
export function messageOf(error: unknown, t: Translate): { text: string; code: string | null } {
  if (error instanceof NetworkError) return { text: t("error.network"), code: null };
  if (!(error instanceof ApiError)) return { text: error instanceof Error ? error.message : String(error), code: null };
  const known = KNOWN.find((code) => code === error.code);
  if (known) return { text: t(`error.${known}`), code: error.code };
  return { text: error.status >= 500 ? t("error.server") : error.message, code: error.code };
}
