/** Mantine's controls, dressed in the variables of theme.css. */
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

const indigo: MantineColorsTuple = [
  "#eef0fc",
  "#dcdff6",
  "#b7bdee",
  "#8f99e5",
  "#6d7ade",
  "#5766d9",
  "#4050c8",
  "#3544b4",
  "#2d3ba1",
  "#22308e",
];

const dark: MantineColorsTuple = [
  "#ececef",
  "#c9cad0",
  "#a3a4ae",
  "#73747f",
  "#45464e",
  "#2c2d33",
  "#1f2024",
  "#18191c",
  "#111214",
  "#0a0a0b",
];

export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 6, dark: 5 },
  colors: { indigo, dark },
  defaultRadius: 6,
  fontFamily: "var(--ph-font)",
  fontFamilyMonospace: "var(--ph-mono)",
  fontSizes: { xs: "12px", sm: "13px", md: "13px", lg: "15px", xl: "20px" },
  headings: { fontWeight: "600", sizes: { h1: { fontSize: "20px" }, h2: { fontSize: "15px" }, h3: { fontSize: "13px" } } },
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "xs" } },
    TextInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "sm" } },
    Textarea: { defaultProps: { size: "xs" } },
    // Lists of options are made when they are opened: a page has dozens, and each is measured as it is made.
    Combobox: { defaultProps: { keepMounted: false } },
    Select: { defaultProps: { size: "xs", selectFirstOptionOnChange: true } },
    MultiSelect: { defaultProps: { size: "xs", selectFirstOptionOnChange: true } },
    TagsInput: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    FileInput: { defaultProps: { size: "xs" } },
    Checkbox: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    // The header of a dialog is no banner of the page.
    Modal: { defaultProps: { centered: true, radius: 10, attributes: { header: { role: "presentation" } } }, styles: { title: { fontWeight: 600, fontSize: "15px" } } },
    // The placeholder is a child that a menu may not have; without it the first item has the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    HoverCard: { defaultProps: { radius: 10 } },
  },
});

/** Set for each scheme: Mantine's own values for a scheme would win over common ones. */
const overrides = {
  "--mantine-color-body": "var(--ph-bg)",
  "--mantine-color-text": "var(--ph-text)",
  "--mantine-color-dimmed": "var(--ph-text-2)",
  "--mantine-color-placeholder": "var(--ph-text-2)",
  "--mantine-color-default": "var(--ph-surface)",
  "--mantine-color-default-hover": "var(--ph-hover)",
  "--mantine-color-default-color": "var(--ph-text)",
  "--mantine-color-default-border": "var(--ph-border)",
  "--mantine-color-error": "var(--ph-danger)",
  "--mantine-color-anchor": "var(--ph-accent)",
  // White text has a contrast of 5.5 : 1 and 6.7 : 1 on these, and of 3.3 : 1 on Mantine's own red.
  "--mantine-color-red-filled": "#c92a2a",
  "--mantine-color-red-filled-hover": "#b02525",
};

/** The titles of yellow messages have a contrast of 7.3 : 1. With Mantine's own colour it is 2.7 : 1. */
const light = { ...overrides, "--mantine-color-yellow-light-color": "#7a4100" };

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light, dark: overrides });
