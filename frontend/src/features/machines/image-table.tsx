/** What machines are made from, and how many stand ready. */
import { NumberInput } from "@mantine/core";

import type { ImageInfo } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./machines.module.css";

const MAX_WARM = 1_000;

export function ImageTable({ images }: { images: readonly ImageInfo[] }) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={images}
        keyOf={(image) => image.name}
        columns={[
          {
            header: t("machines.image"),
            kind: "name",
            cell: (image) => <strong className={styles.name}>{image.name}</strong>,
          },
          { header: t("machines.free"), kind: "number", cell: (image) => image.free },
          { header: t("machines.coming"), kind: "number", cell: (image) => image.coming },
          { header: t("machines.waiting"), kind: "number", cell: (image) => image.waiting },
          {
            header: t("machines.target"),
            kind: "number",
            cell: (image) => (
              <NumberInput
                key={image.target}
                aria-label={t("machines.target_of", { name: image.name })}
                defaultValue={image.target}
                min={0}
                max={MAX_WARM}
                size="xs"
                w={76}
                ml="auto"
                clampBehavior="strict"
                onBlur={(event) => {
                  const count = Number(event.currentTarget.value);
                  if (Number.isInteger(count) && count !== image.target) change.mutate({ type: "warm", image: image.name, count });
                }}
                onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
              />
            ),
          },
        ]}
      />
    </>
  );
}
