/** Shows the address with which the annotator's program connects to the machine's browser. It holds a single-use ticket. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";

import { useWorkspace } from "@/features/annotate/use-workspace";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { Snippet } from "@/shared/ui/snippet";

export function ProgramDialog() {
  const { t } = useI18n();
  const { episode } = useWorkspace();
  const ticket = useMutation({
    mutationFn: () => request("POST", `/episodes/${encodeURIComponent(episode.id)}/tickets`, { kind: "cdp" }),
  });
  return (
    <Stack gap="sm">
      <Text size="sm">{t("browser.program.about")}</Text>
      <Alert color="yellow" variant="light">
        {t("browser.program.caution")}
      </Alert>
      {ticket.data && (
        <div>
          <Text size="sm" role="status" mb="xs">
            {t("browser.program.valid", { count: Math.round(ticket.data.expires_in / 60) })}
          </Text>
          <Snippet oneLine name={t("browser.program.address")} text={ticket.data.url} />
          <Snippet oneLine name="Playwright" text={`browser = playwright.chromium.connect_over_cdp(${JSON.stringify(ticket.data.url)})`} />
          <Snippet oneLine name="Puppeteer" text={`const browser = await puppeteer.connect({ browserWSEndpoint: ${JSON.stringify(ticket.data.url)} });`} />
        </div>
      )}
      <Problem error={ticket.error} />
      <Group justify="flex-end">
        <Button variant={ticket.data ? "default" : "filled"} loading={ticket.isPending} onClick={() => ticket.mutate()} data-autofocus>
          {t(ticket.data ? "browser.program.another" : "browser.program.make")}
        </Button>
      </Group>
    </Stack>
  );
}
