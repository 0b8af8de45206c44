/** Where a replay is: which step, before or after it, running or not; pure. */

export type Player = {
  readonly step: number;
  /** Whether the frame after the act is shown instead of the one it acted on. */
  readonly after: boolean;
  readonly playing: boolean;
  readonly speed: number;
  /** Whether the video is shown instead of single frames. */
  readonly video: boolean;
  /** How often a person chose a place; the video follows those choices, and leads otherwise. */
  readonly jumps: number;
};

export const startAt = (step: number): Player => ({ step, after: false, playing: false, speed: 1, video: false, jumps: 0 });

const SPEEDS = [0.5, 1, 2, 4] as const;

/** How long a frame stands while playing at speed 1 (milliseconds). */
export const FRAME_MS = 1_600;

/** `tick`, `seen` and `stop` come from the clock and the video, the rest from a hand. */
export type Move =
  | ("play" | "next" | "previous" | "first" | "last" | "after" | "faster" | "slower" | "video" | "tick" | "stop")
  | { to: number }
  | { reached: number };

/** The player after a move through `count` steps; a move by hand stops the playing. */
export function reducePlayer(player: Player, move: Move, count: number): Player {
  const last = Math.max(0, count - 1);
  const at = (step: number, after = false): Player => ({
    ...player,
    step: Math.min(Math.max(step, 0), last),
    after,
    playing: false,
    jumps: player.jumps + 1,
  });
  if (typeof move === "object") return "to" in move ? at(move.to) : { ...player, step: move.reached, after: false };
  switch (move) {
    case "play":
      return atEnd(player, last) ? { ...at(0), playing: count > 0 } : { ...player, playing: !player.playing && count > 0 };
    case "tick":
      return advance(player, last);
    case "stop":
      return { ...player, after: player.step === last, playing: false };
    case "video":
      return { ...player, video: !player.video, playing: false, jumps: player.jumps + 1 };
    case "next":
      return player.step === last ? at(last, true) : at(player.step + 1);
    case "previous":
      return player.after ? at(player.step) : at(player.step - 1);
    case "first":
      return at(0);
    case "last":
      return at(last, true);
    case "after":
      return at(player.step, !player.after);
    case "faster":
      return { ...player, speed: adjacentSpeed(player.speed, 1) };
    case "slower":
      return { ...player, speed: adjacentSpeed(player.speed, -1) };
  }
}

const atEnd = (player: Player, last: number) => player.step === last && player.after && !player.playing;

/** One frame further; the last act's outcome is the last frame. */
function advance(player: Player, last: number): Player {
  if (player.step < last) return { ...player, step: player.step + 1, after: false };
  return { ...player, after: true, playing: false };
}

function adjacentSpeed(speed: number, by: number): number {
  const index = SPEEDS.findIndex((known) => known === speed) + by;
  return SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)] ?? 1;
}
