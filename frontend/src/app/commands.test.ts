/** The commands of all screens together. */
import { describe, expect, it } from "vitest";

import { conflictsOf } from "@/shared/commands/command";

import { ALL_COMMANDS } from "./commands";

describe("all commands", () => {
  it("have ids of their own", () => {
    const ids = ALL_COMMANDS.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("have a key each", () => {
    expect(ALL_COMMANDS.filter(({ keys }) => keys.length === 0).map(({ id }) => id)).toEqual([]);
  });

  it("never mean two things by one key", () => {
    const conflicts = conflictsOf(ALL_COMMANDS, {}).map(({ combination, commands: [a, b] }) => `${combination}: ${a.id}, ${b.id}`);
    expect(conflicts).toEqual([]);
  });
});
