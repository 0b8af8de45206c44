/** The theme the toggle leads to: from what is seen to its opposite. */
import { useComputedColorScheme } from "@mantine/core";

import type { Theme } from "@/shared/account/preferences";

export function useNextTheme(): Theme {
  return useComputedColorScheme("light") === "dark" ? "light" : "dark";
}
