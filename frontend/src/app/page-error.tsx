/** What is left when a page breaks: the reason, and a fresh start. What was typed is kept on this device. */
import { useRouteError } from "react-router";

import { ErrorState } from "@/shared/ui/states";

export function PageError() {
  return <ErrorState error={useRouteError()} onRetry={() => window.location.reload()} />;
}
