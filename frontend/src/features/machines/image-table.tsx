/** What machines are made from, and how many stand ready. */
import { NumberInput, Table } from "@mantine/core";

import type { ImageInfo } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./machines.module.css";

const MOST = 1_000;

export function ImageTable({ images }: { images: readonly ImageInfo[] }) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("machines.image")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.free")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.coming")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.waiting")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.target")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {images.map((image) => (
            <Table.Tr key={image.name}>
              <Table.Td>
                <strong className={styles.name}>{image.name}</strong>
              </Table.Td>
              <Table.Td className={styles.number}>{image.free}</Table.Td>
              <Table.Td className={styles.number}>{image.coming}</Table.Td>
              <Table.Td className={styles.number}>{image.waiting}</Table.Td>
              <Table.Td className={styles.target}>
                <NumberInput
                  key={image.target}
                  aria-label={t("machines.target_of", { name: image.name })}
                  defaultValue={image.target}
                  min={0}
                  max={MOST}
                  size="xs"
                  w={76}
                  clampBehavior="strict"
                  onBlur={(event) => {
                    const count = Number(event.currentTarget.value);
                    if (Number.isInteger(count) && count !== image.target) change.mutate({ do: "warm", image: image.name, count });
                  }}
                  onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
