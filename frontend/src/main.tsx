/** Starts the page. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "@/app/app";
import { makeRouter } from "@/app/routes";
import { watchPartFailures } from "@/app/stale-pages";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

watchPartFailures();
createRoot(root).render(
  <StrictMode>
    <App router={makeRouter()} />
  </StrictMode>,
);
