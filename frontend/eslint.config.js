/**
 * Lint rules. Folders may import only downwards:
 * app → features → session | streams → shared → generated; features do not know each other.
 * Files import their neighbours as "./x" and everything else as "@/…", so the zones below see every crossing.
 */
import { readdirSync } from "node:fs";

import js from "@eslint/js";
import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";

const features = readdirSync(new URL("src/features", import.meta.url));

/** A zone: files of `folder` must not import what `forbidden` (regular expressions) matches. */
const zone = (folder, forbidden) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          { regex: "^\\.\\./", message: "Import other folders as '@/…'." },
          ...forbidden.map((regex) => ({ regex, message: `src/${folder} must not depend on this.` })),
        ],
      },
    ],
  },
});

export default tseslint.config(
  { ignores: ["dist", "src/generated"] },
  js.configs.recommended,
  {
    files: ["**/*.{ts,tsx}"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-definitions": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      complexity: ["error", { max: 12, variant: "modified" }],
      "max-lines": ["error", 400],
    },
  },
  {
    files: ["**/*.tsx"],
    extends: [jsxA11y.flatConfigs.strict],
    languageOptions: { globals: globals.browser },
  },
  { files: ["**/*.{ts,tsx}"], ...reactHooks.configs.flat.recommended },
  { files: ["scripts/**", "*.js"], languageOptions: { globals: globals.node } },
  zone("generated", ["^@/"]),
  zone("shared", ["^@/(app|features|session|streams)/"]),
  zone("session", ["^@/(app|features|streams)/"]),
  zone("streams", ["^@/(app|features|session)/"]),
  ...features.map((name) => zone(`features/${name}`, ["^@/app/", `^@/features/(?!${name}/)`])),
  { files: ["src/**/*.test.{ts,tsx}", "src/test-setup.ts"], rules: { "max-lines": "off", "@typescript-eslint/no-deprecated": "off" } },
);
