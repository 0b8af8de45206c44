/** Changing keys. */
import { describe, expect, it } from "vitest";

import type { Command } from "@/shared/commands/command";

import { added, assigned, removed } from "./key-map";

const command: Command = { id: "c", scope: "queue", name: "queue.next", help: "queue.next.help", keys: ["N"] };

describe("a key map", () => {
  it("gains a key beside the default, once", () => {
    expect(added({}, command, "X")).toEqual({ c: ["N", "X"] });
    expect(added(added({}, command, "X"), command, "X")).toEqual({ c: ["N", "X"] });
  });

  it("may leave a command without a key", () => {
    expect(removed({}, command, "N")).toEqual({ c: [] });
  });

  it("forgets what is the default again", () => {
    expect(removed({ c: ["N", "X"], d: ["Y"] }, command, "X")).toEqual({ d: ["Y"] });
    expect(assigned({ c: [] }, command, command.keys)).toEqual({});
  });
});
