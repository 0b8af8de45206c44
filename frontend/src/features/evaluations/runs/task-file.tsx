/** Tasks of a file of one's own, and the machines that they are for. */
import { FileInput, NativeSelect, SimpleGrid } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";

import type { RunRequest } from "./run-request";

type Props = { readonly images: readonly string[]; readonly request: RunRequest; readonly onChange: (changes: Partial<RunRequest>) => void };

/** A name that a run can have: letters, digits, dots and dashes. */
const nameOf = (file: File): string => file.name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");

export function FileFields({ images, request, onChange }: Props) {
  const { t } = useI18n();
  const [file, setFile] = useState<File | null>(null);
  const read = async (chosen: File | null) => {
    setFile(chosen);
    onChange(chosen ? { fileName: nameOf(chosen), file: await chosen.text() } : { fileName: "", file: "" });
  };
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <FileInput
        label={t("benchmarks.start.file.choose")}
        description={t("benchmarks.start.file.help")}
        accept=".jsonl,.ndjson,.json"
        value={file}
        onChange={(chosen) => void read(chosen)}
        required
      />
      <NativeSelect
        label={t("benchmarks.start.image")}
        description={t("benchmarks.start.image.help")}
        value={request.image}
        onChange={(event) => onChange({ image: event.currentTarget.value })}
        data={[{ value: "", label: t("benchmarks.start.image.default") }, ...images]}
      />
    </SimpleGrid>
  );
}
