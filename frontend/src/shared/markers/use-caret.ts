/** Where text lands that is typed after some steps. */
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";

import type { Action, Observation, Point } from "@/generated/vocabulary";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";

import { findCaret, movesCaret } from "./caret";
import { lastPointed } from "./marker";
import { readPixels, type Pixels } from "./pixels";

interface DoneStep {
  readonly command_id: string;
  readonly action: Action;
  readonly before: Observation | null;
  readonly after: Observation | null;
}

/**
 * The text cursor after the steps that typed since the last pointed place, as far as their pictures show it; else that
 * place. Null before anything was pointed at.
 */
export function useCaret(steps: readonly DoneStep[], blobUrl: BlobUrl): Point | null {
  const client = useQueryClient();
  const pointed = lastPointed(steps.map(({ action }) => action));
  const typed = pointed !== null && isTyped(steps);
  const caret = useQuery({ ...caretQuery(client, steps, blobUrl), enabled: typed });
  return (typed ? caret.data : null) ?? pointed;
}

function isTyped(steps: readonly DoneStep[]): boolean {
  const last = steps.at(-1);
  return last !== undefined && movesCaret(last.action);
}

/** So many steps that typed are looked at, from the last: each needs two pictures, and the last one moved the cursor most. */
const MAX_TYPED = 8;

/** The text cursor after the last of the steps; each step's is found once, beginning at that of the step before. */
function caretQuery(client: QueryClient, steps: readonly DoneStep[], blobUrl: BlobUrl, most = MAX_TYPED) {
  return {
    queryKey: ["caret", steps.at(-1)?.command_id],
    queryFn: async (): Promise<Point | null> => {
      const earlier = steps.slice(0, -1);
      const place = most > 1 && isTyped(earlier) ? await client.query(caretQuery(client, earlier, blobUrl, most - 1)) : null;
      const near = place ?? lastPointed(steps.map(({ action }) => action));
      const last = steps.at(-1);
      return last === undefined || near === null ? null : ((await caretAfter(last, near, blobUrl)) ?? place);
    },
    staleTime: Infinity,
  };
}

async function caretAfter({ action, before, after }: DoneStep, near: Point, blobUrl: BlobUrl): Promise<Point | null> {
  const [first, second] = await Promise.all([readPicture(before, blobUrl), readPicture(after, blobUrl)]);
  return first && second && findCaret(action, first, second, near);
}

async function readPicture(observation: Observation | null, blobUrl: BlobUrl): Promise<Pixels | null> {
  if (observation?.screenshot == null) return null;
  const image = new Image();
  image.src = blobUrl(observation.screenshot.sha256);
  try {
    await image.decode();
  } catch {
    return null; // the picture is lost: the last pointed place stands in
  }
  return readPixels(image, observation);
}
