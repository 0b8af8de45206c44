/** What the page shows for an unknown address, and after an error. Typed text stays on this device. */
import { Link, useRouteError } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Empty, ErrorState } from "@/shared/ui/states";

export function NotFound() {
  const { t } = useI18n();
  return <Empty title={t("error.not_found")} action={<Link to="/queue">{t("global.queue")}</Link>} />;
}

export function PageError() {
  return <ErrorState error={useRouteError()} onRetry={() => window.location.reload()} />;
}
