/** The error that a form shows for its last request. */
import { hashKey } from "@tanstack/react-query";

interface Request<Wish> {
  readonly error: Error | null;
  readonly variables: Wish | undefined;
}

/** The error of the last request, while the form still describes that request; null once the form has changed. */
export const errorFor = <Wish>({ error, variables }: Request<Wish>, wish: Wish | null): Error | null =>
  error !== null && hashKey([variables]) === hashKey([wish]) ? error : null;
