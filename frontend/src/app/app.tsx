/** The whole page: providers around routes. */
import "@fontsource-variable/inter/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "./theme.css";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useState } from "react";
import { RouterProvider, type DataRouter } from "react-router";

import { sessionQuery } from "@/shared/account/account";
import { ApiError } from "@/shared/api/http";

import { AppProviders } from "./providers";

/** A refusal stays a refusal; only a server out of reach or in trouble is asked again. */
const worthRetrying = (failures: number, error: unknown) =>
  failures < 2 && !(error instanceof ApiError && error.status < 500);

const makeQueryClient = () =>
  new QueryClient({ defaultOptions: { queries: { retry: worthRetrying, staleTime: 5_000 } } });

export function App({ router }: { router: DataRouter }) {
  const [client] = useState(() => {
    const made = makeQueryClient();
    // While the first page loads; whoever shows the answer shows the failure too.
    made.query(sessionQuery).catch(() => undefined);
    return made;
  });
  return (
    <QueryClientProvider client={client}>
      <AppProviders>
        <RouterProvider router={router} />
      </AppProviders>
    </QueryClientProvider>
  );
}
