/** What the page shows for an unknown address, and after an error. Typed text stays on this device. */
import { useEffect, useRef, useState } from "react";
import { Link, useRouteError } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { isPartFailure, reloadOnce } from "./stale-pages";

export function NotFound() {
  const { t } = useI18n();
  return <Empty title={t("error.not_found")} action={<Link to="/queue">{t("global.queue")}</Link>} />;
}

export function PageError() {
  const { t } = useI18n();
  const error = useRouteError();
  const stale = isPartFailure(error);
  const reloads = useRef(false);
  const [reloading, setReloading] = useState(stale);
  useEffect(() => {
    if (!stale || reloads.current) return;
    reloads.current = true;
    setReloading(reloadOnce());
  }, [stale]);
  if (reloading) return <Loading />;
  return <ErrorState error={stale ? new Error(t("error.part")) : error} onRetry={() => window.location.reload()} />;
}
