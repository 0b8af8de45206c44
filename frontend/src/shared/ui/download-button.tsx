/** A link to a file, in the shape of a button. */
import { Button } from "@mantine/core";
import { Download } from "lucide-react";

type Props = {
  readonly href: string;
  readonly label: string;
  readonly size?: "compact-xs" | "compact-sm";
};

export function DownloadButton({ href, label, size = "compact-sm" }: Props) {
  return (
    <Button component="a" href={href} download variant="default" size={size} leftSection={<Download size={13} />}>
      {label}
    </Button>
  );
}
