/** The whole page: providers around routes. */
import "@fontsource-variable/inter/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "./theme.css";

import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { RouterProvider, type DataRouter } from "react-router";

import { AppProviders } from "./providers";

export function App({ client, router }: { client: QueryClient; router: DataRouter }) {
  return (
    <QueryClientProvider client={client}>
      <AppProviders>
        <RouterProvider router={router} />
      </AppProviders>
    </QueryClientProvider>
  );
}
