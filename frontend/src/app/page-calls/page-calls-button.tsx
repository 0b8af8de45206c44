/** Opens the API calls that do what the page does; in the bar of every page that has some. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { CodeXml } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useMatches } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Loading } from "@/shared/ui/states";

import { PAGES_WITHOUT_CALLS } from "./pages-without-calls";

/** Loaded when it is opened: it knows the calls of all pages. */
const PageCalls = lazy(() => import("./page-calls"));

export function PageCallsButton() {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const page = useMatches().at(-1);
  if (page === undefined || page.id in PAGES_WITHOUT_CALLS) return null;
  return (
    <>
      <Tooltip label={t("api_calls.title")}>
        <ActionIcon aria-label={t("api_calls.title")} aria-haspopup="dialog" onClick={() => setOpened(true)}>
          <CodeXml size={16} />
        </ActionIcon>
      </Tooltip>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={t("api_calls.title")} size="xl">
        <Suspense fallback={<Loading />}>
          <PageCalls page={page.id} id={page.params.id ?? ""} />
        </Suspense>
      </Dialog>
    </>
  );
}
