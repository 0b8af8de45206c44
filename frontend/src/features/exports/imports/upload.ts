/** A file sent in parts (tus 1.0): it goes on where the server says, whatever breaks off in between. */
import type { ImportOut, UploadOut } from "@/generated/api";
import { ApiError, NetworkError, request, requestWithHeaders } from "@/shared/api/http";

const VERSION = { "Tus-Resumable": "1.0.0" };
const FIRST_PART = 2 ** 20;
const MIN_PART_BYTES = 2 ** 18;
/** A part that took less is followed by one of twice its size (ms), one that took longer than `SLOW` by half of it. */
const FAST = 1_000;
const SLOW = 8_000;
/** Before each further try of a part (ms). */
const RETRY_DELAYS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

export type Progress = {
  /** Bytes that arrived. */
  readonly sent: number;
  /** Why the last try failed, while another one is coming. */
  readonly problem: unknown;
};

/** What tells this file from others after a reload, beside its name and size. */
export const fingerprintOf = (file: File) => `modified:${file.lastModified}`;

export const isUploadOf = (upload: UploadOut, file: File) =>
  upload.name === file.name && upload.size === file.size && upload.fingerprint === fingerprintOf(file);

/** Announce a file. Raises ApiError (`upload_quota`, `upload_space`, `pool_taken`, …) or NetworkError. */
export async function createUpload(file: File, pool: string): Promise<UploadOut> {
  const metadata = { filename: file.name, fingerprint: fingerprintOf(file), pool };
  const pairs = Object.entries(metadata).flatMap(([key, value]) => (value === "" ? [] : [`${key} ${base64(new TextEncoder().encode(value))}`]));
  const headers = { ...VERSION, "Upload-Length": String(file.size), "Upload-Metadata": pairs.join(",") };
  const response = await requestWithHeaders("POST", "/imports/uploads", headers);
  return (await response.json()) as UploadOut;
}

/**
 * Send what is missing, then begin the import into this pool; empty: the announced one. Raises ApiError, NetworkError, or
 * the signal's reason.
 */
export async function sendUpload(
  file: File,
  pool: string,
  upload: UploadOut,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ImportOut> {
  const path = `/imports/uploads/${upload.id}` as const;
  let sent = upload.offset;
  let size = Math.min(FIRST_PART, upload.part_bytes);
  let tries = 0;
  onProgress({ sent, problem: null });
  while (sent < file.size) {
    const startedAt = performance.now();
    try {
      sent = await sendPart(path, file, sent, size, signal);
      size = nextSize(size, performance.now() - startedAt, upload.part_bytes);
      tries = 0;
      onProgress({ sent, problem: null });
    } catch (error) {
      const pause = RETRY_DELAYS[tries];
      if (signal.aborted || pause === undefined || !isTransient(error)) throw error;
      // oxlint-disable-next-line no-useless-assignment -- the next part that fails reads it
      tries += 1;
      size = smaller(size, upload.part_bytes);
      onProgress({ sent, problem: error });
      await sleep(pause, signal);
      sent = await offsetOf(path, signal).catch(() => sent); // without an answer, the part is tried again as it is
    }
  }
  return request("POST", `${path}/import`, { pool });
}

async function sendPart(path: string, file: File, offset: number, size: number, signal: AbortSignal): Promise<number> {
  const data = await file.slice(offset, offset + size).arrayBuffer();
  const headers = { ...VERSION, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream", ...(await checksum(data)) };
  try {
    const response = await requestWithHeaders("PATCH", path, headers, data, signal);
    return Number(response.headers.get("Upload-Offset"));
  } catch (error) {
    if (error instanceof ApiError && error.code === "upload_offset") return offsetOf(path, signal);
    throw error;
  }
}

async function offsetOf(path: string, signal: AbortSignal): Promise<number> {
  const response = await requestWithHeaders("HEAD", path, VERSION, null, signal);
  return Number(response.headers.get("Upload-Offset"));
}

/** Browsers digest on pages that came over HTTPS or from this machine; elsewhere a part goes without. */
async function checksum(data: ArrayBuffer): Promise<Record<string, string>> {
  if (!globalThis.isSecureContext) return {};
  return { "Upload-Checksum": `sha256 ${base64(new Uint8Array(await crypto.subtle.digest("SHA-256", data)))}` };
}

const nextSize = (size: number, took: number, most: number) => (took < FAST ? Math.min(most, size * 2) : took > SLOW ? smaller(size, most) : size);

const smaller = (size: number, most: number) => Math.min(most, Math.max(MIN_PART_BYTES, size / 2));

/** Whether another try may help: no answer, a busy server, or a part that was damaged. */
const isTransient = (error: unknown) =>
  error instanceof NetworkError ||
  (error instanceof ApiError && (error.status === 429 || error.status === 460 || (error.status >= 500 && error.status !== 507)));

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
