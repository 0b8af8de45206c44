/** A list that was asked for: while it is waited for, where it failed, where it is empty, and the list itself. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Empty, ErrorState, Loading } from "@/shared/ui/states";

type Props<Row> = {
  readonly query: UseQueryResult<readonly Row[]>;
  /** What is said where there is nothing yet, and what would change that. */
  readonly none: string;
  readonly help: string;
  readonly children: (rows: readonly Row[]) => ReactNode;
};

export function QueryRows<Row>({ query, none, help, children }: Props<Row>) {
  if (query.isPending) return <Loading />;
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data.length === 0) return <Empty title={none}>{help}</Empty>;
  return children(query.data);
}
