/** Parts come out whole however the network cuts the bytes. */
import { describe, expect, it } from "vitest";

import { MultipartReader } from "./multipart";

const bytes = (text: string) => new TextEncoder().encode(text);
const part = (body: string) =>
  `--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${bytes(body).length}\r\nX-Captured-At: 1700000000123\r\n\r\n${body}\r\n`;

describe("MultipartReader", () => {
  const stream = bytes(part("first") + part("second\r\n\r\nwith a blank line"));

  it.each([1, 2, 7, 64, 10_000])("reads chunks of %i bytes", (size) => {
    const reader = new MultipartReader();
    const bodies: string[] = [];
    for (let at = 0; at < stream.length; at += size) {
      for (const { body, headers } of reader.push(stream.subarray(at, at + size))) {
        bodies.push(new TextDecoder().decode(body));
        expect(headers.get("x-captured-at")).toBe("1700000000123");
      }
    }
    expect(bodies).toEqual(["first", "second\r\n\r\nwith a blank line"]);
  });

  it.each(["", "Content-Length: -1", "Content-Length: 99999999999", "Content-Length: many"])("refuses a part with “%s”", (header) => {
    expect(() => new MultipartReader().push(bytes(`--frame\r\n${header}\r\n\r\nbody`))).toThrow(RangeError);
  });
});
