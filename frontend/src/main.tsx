/** Starts the page. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "@/app/app";
import { makeQueryClient } from "@/app/query-client";
import { makeRouter } from "@/app/routes";
import { watchPartFailures } from "@/app/stale-pages";
import { sessionQuery } from "@/shared/account/account";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

watchPartFailures();
const client = makeQueryClient();
client.query(sessionQuery).catch(() => undefined); // while the first page loads; what shows the answer shows the failure
createRoot(root).render(
  <StrictMode>
    <App client={client} router={makeRouter(client)} />
  </StrictMode>,
);
