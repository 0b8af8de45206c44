/** What a form shows of its last request. */
import { hashKey } from "@tanstack/react-query";

interface Request<Wish> {
  readonly error: Error | null;
  readonly variables: Wish | undefined;
}

/** Why the last request was refused, as long as the form still asks for the same: chosen otherwise, it is not about that. */
export const errorFor = <Wish>({ error, variables }: Request<Wish>, wish: Wish | null): Error | null =>
  error !== null && hashKey([variables]) === hashKey([wish]) ? error : null;
