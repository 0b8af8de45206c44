/** Answers of the API that pages share, and when they are asked for again. */
import { QueryClient } from "@tanstack/react-query";

import { ApiError } from "@/shared/api/http";

/** A refusal stays a refusal; only a server out of reach or in trouble is asked again. */
const worthRetrying = (failures: number, error: unknown) =>
  failures < 2 && !(error instanceof ApiError && error.status < 500);

export const makeQueryClient = () =>
  new QueryClient({ defaultOptions: { queries: { retry: worthRetrying, staleTime: 5_000 } } });
