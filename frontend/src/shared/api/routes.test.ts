import { expectTypeOf, it } from "vitest";

import type { EpisodePage, Snapshot, TaskPage, UploadReport } from "@/generated/api";

import { request } from "./http";

// These calls are never made: the type checker reads them, and every line below that should be refused says so.
const id = "e" as string;
const pool = 1 as number;

it("gives the answer of the route that a path names", () => {
  expectTypeOf(() => request("GET", `/episodes?${id}`)).returns.resolves.toEqualTypeOf<EpisodePage>();
  expectTypeOf(() => request("GET", `/episodes/${id}`)).returns.resolves.toEqualTypeOf<Snapshot>();
  expectTypeOf(() => request("GET", `/pools/${pool}/tasks?${id}`)).returns.resolves.toEqualTypeOf<TaskPage>();
  expectTypeOf(() => request("POST", `/pools/${pool}/tasks`, new FormData())).returns.resolves.toEqualTypeOf<UploadReport>();
  expectTypeOf(() => request("DELETE", `/pools/${pool}/${id as "people" | "groups"}/${pool}`)).returns.resolves.toEqualTypeOf<null>();
});

it("refuses a path, a method or a body that the API does not have", () => {
  // @ts-expect-error -- no such route
  expectTypeOf(() => request("GET", `/pools/${pool}/episodes`)).toBeFunction();
  // @ts-expect-error -- no such method of this route
  expectTypeOf(() => request("PATCH", "/pools/board")).toBeFunction();
  // @ts-expect-error -- a path whose type is a bare string
  expectTypeOf(() => request("GET", id)).toBeFunction();
  // @ts-expect-error -- a body without its code
  expectTypeOf(() => request("POST", "/me/factor/confirm", {})).toBeFunction();
  // @ts-expect-error -- a body where none is taken
  expectTypeOf(() => request("DELETE", `/pools/${pool}/stop`, { reason: "" })).toBeFunction();
});
