/** A made-up fleet: every state a machine can be in. */
import type { Fleet, FleetMachine, HostInfo, PreparedRequestCost } from "../src/generated/api";

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

const FREE: FleetMachine = {
  id: "desktop-4c1f00aa",
  kind: "desktop",
  image: "desktop",
  host: "lab-1",
  state: "free",
  since: secondsAgo(340),
  holder: null,
  user: null,
  pool: null,
  session: null,
  expires_at: null,
  last_act: null,
  cpu_share: 0,
  memory_bytes: 98_000_000,
  watchable: false,
};

const LEASED: FleetMachine = {
  ...FREE,
  id: "desktop-9b20e1d4",
  state: "leased",
  holder: "episode:0192f0c4-0000-7000-8000-000000000001",
  user: "annie",
  pool: "Desktop basics",
  session: "0192f0c4-0000-7000-8000-000000000001",
  expires_at: secondsAgo(-80),
  last_act: secondsAgo(4),
  cpu_share: 0.34,
  memory_bytes: 412_000_000,
  watchable: true,
};

const HOST: HostInfo = { id: "lab-1", url: "http://10.0.0.4:8010", images: ["desktop", "phone", "terminal"], capacity: 8, machines: 5, draining: false, last_seen: secondsAgo(1), unbounded: [], warnings: [], browser_built: null };

export function fleet(empty: boolean): Fleet {
  return {
    at: secondsAgo(0),
    machines: empty
      ? []
      : [
          LEASED,
          { ...LEASED, id: "phone-77aa2c10", kind: "phone", image: "phone", user: "bo", pool: "Phone tasks", session: "2", cpu_share: 1.12, memory_bytes: 803_000_000 },
          { ...LEASED, id: "terminal-0d41b5a9", kind: "terminal", image: "terminal", holder: "rollout:nightly", user: null, session: "nightly-17", watchable: false },
          FREE,
          { ...FREE, id: "desktop-e0078c31", kind: null, state: "starting", since: secondsAgo(1), cpu_share: null, memory_bytes: null },
          { ...FREE, id: "desktop-51fe7d02", host: "lab-2", state: "stranded", since: secondsAgo(45) },
        ],
    hosts: [HOST, { ...HOST, id: "lab-2", url: "http://10.0.0.5:8010", machines: 1, draining: true, last_seen: secondsAgo(45), unbounded: ["cpu", "memory", "walls"] }],
    images: [
      { name: "desktop", target: 2, free: 1, coming: 1, waiting: 1 },
      { name: "phone", target: 0, free: 0, coming: 0, waiting: 0 },
    ],
    queue: empty ? [] : [{ request_id: "r1", image: "desktop", position: 1, holder: "episode:3", user: "cleo", pool: "Two programs", session: "3", since: secondsAgo(6) }],
    losses: empty
      ? []
      : [{ machine_id: "desktop-aa10be77", image: "desktop", host: "lab-2", holder: "episode:4", user: "annie", pool: "Desktop basics", session: "4", reason: "desktop-aa10be77 died or hung; what was done on it is lost", at: secondsAgo(4_000) }],
    quotas: empty ? [] : [{ scope: "user", name: "*", limit: 2, held: 0 }, { scope: "pool", name: "Phone tasks", limit: 4, held: 1 }],
    missing: empty ? [] : [{ image: "windows", pools: ["Office", "Reports"] }],
  };
}

/** A day's prepared requests of a pool whose server counts tokens, and of one whose server does not. */
export function preparedRequests(empty: boolean): PreparedRequestCost[] {
  if (empty) return [];
  const cost: PreparedRequestCost = { pool_id: 1, pool: "Desktop basics", day: "2026-01-02", made: 412, used: 301, discarded: 108, seconds: 611, discarded_seconds: 164, input_tokens: 1_204_000, output_tokens: 32_400, discarded_input_tokens: 310_500, discarded_output_tokens: 7_800, uncounted: 14 };
  return [cost, { ...cost, pool_id: 2, pool: "Phone tasks", made: 40, used: 40, discarded: 0, discarded_seconds: 0, uncounted: 40 }];
}
