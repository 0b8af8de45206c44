/** Calls to the web app: JSON in, JSON out, CSRF header, one error class with the server's stable code. */
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

type Method = "GET" | "POST" | "PATCH" | "DELETE";

let csrf = "";
const signedOutListeners = new Set<() => void>();

/** Remember the token that unsafe calls must carry; it changes with every sign-in. */
export function setCsrf(token: string): void {
  csrf = token;
}

/** Be told when the server says that nobody is signed in any more. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

/** Tell every listener that the sign-in has ended; the socket calls it on its own close code. */
export function signedOut(): void {
  signedOutListeners.forEach((listener) => listener());
}

/** Call the API. Raises ApiError or NetworkError. */
export async function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(`/api${path}`, {
    method,
    headers,
    credentials: "same-origin",
    body: body === undefined ? null : JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw new NetworkError(cause);
  });
  if (!response.ok) throw await errorOf(response);
  return (response.status === 204 ? null : await response.json()) as T;
}

async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const { code = `http_${response.status}`, message = response.statusText, extra = null } = isErrorBody(body) ? body : {};
  if (response.status === 401 && code === "not_signed_in") signedOut();
  return new ApiError(response.status, code, message, extra);
}

function isErrorBody(body: unknown): body is { code: string; message: string; extra?: unknown } {
  return typeof body === "object" && body !== null && "code" in body && "message" in body;
}

const KNOWN = ["not_signed_in", "forbidden", "not_found", "too_large"] as const;

/** An error in the reader's language where we know it, in the server's words where it explains itself. */
export function messageOf(error: unknown, t: Translate): { text: string; code: string | null } {
  if (error instanceof NetworkError) return { text: t("error.network"), code: null };
  if (!(error instanceof ApiError)) return { text: error instanceof Error ? error.message : String(error), code: null };
  const known = KNOWN.find((code) => code === error.code);
  if (known) return { text: t(`error.${known}`), code: error.code };
  return { text: error.status >= 500 ? t("error.server") : error.message, code: error.code };
}
