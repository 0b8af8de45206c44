/** Splits a multipart/x-mixed-replace byte stream into its parts; purely, chunk by chunk. */

export interface Part {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A part longer than this (bytes) is no screenshot. */
const MAX_PART_BYTES = 32 * 1024 * 1024;
const BLANK_LINE = new TextEncoder().encode("\r\n\r\n");

/** Takes chunks as they arrive and gives the parts they complete. Parts must carry Content-Length. Raises RangeError. */
export class MultipartReader {
  private buffer: Uint8Array<ArrayBuffer> = new Uint8Array();

  push(chunk: Uint8Array): Part[] {
    this.buffer = joined(this.buffer, chunk);
    const parts: Part[] = [];
    for (let part = this.take(); part !== null; part = this.take()) parts.push(part);
    return parts;
  }

  private take(): Part | null {
    const end = indexOf(this.buffer, BLANK_LINE);
    if (end < 0) return null;
    const headers = parseHeaders(new TextDecoder().decode(this.buffer.subarray(0, end)));
    const length = Number(headers.get("content-length"));
    if (!Number.isInteger(length) || length < 0 || length > MAX_PART_BYTES) throw new RangeError("part without a usable length");
    const start = end + BLANK_LINE.length;
    if (this.buffer.length < start + length) return null;
    const body = this.buffer.slice(start, start + length);
    this.buffer = this.buffer.slice(start + length);
    return { headers, body };
  }
}

function parseHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function indexOf(bytes: Uint8Array, pattern: Uint8Array): number {
  const last = bytes.length - pattern.length;
  for (let at = 0; at <= last; at += 1) {
    if (pattern.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}
