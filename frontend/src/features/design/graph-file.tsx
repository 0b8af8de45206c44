/** Takes over a graph from a file once it was seen what that would change. */
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import { FileImport } from "./file-import";

function sendGraph(file: File, preview: boolean) {
  const form = new FormData();
  form.set("file", file);
  form.set("kind", /\.json$/i.test(file.name) ? "json" : "csv");
  form.set("preview", String(preview));
  return request("POST", "/design/graph", form);
}

export function GraphFile() {
  const { t } = useI18n();
  return (
    <FileImport
      accept=".csv,.json"
      send={sendGraph}
      faultsOf={({ faults }) => faults}
      faultText={({ row, reason }) => t("design.import.fault", { row, reason })}
      summary={({ added, changed }) => <p>{t("design.import.would", { added, changed })}</p>}
    />
  );
}
