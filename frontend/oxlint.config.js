/**
 * Lint rules. Folders may import only downwards:
 * app → features → session | streams → shared → generated; features do not know each other.
 * Files import their neighbours as "./x" and everything else as "@/…", so the zones below see every crossing.
 *
 * The rules are those of ESLint's recommended set, of typescript-eslint's strict and stylistic sets with types, of
 * jsx-a11y's strict set and of React's hooks and compiler.
 */
import { readdirSync } from "node:fs";

const features = readdirSync(new URL("src/features", import.meta.url));

const errors = (names) => Object.fromEntries(names.map((name) => [name, "error"]));

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

/** A feature's zone. The patterns of this tool cannot say "any other": they list the others. */
const featureZone = (name) => {
  const others = features.filter((each) => each !== name).join("|");
  return zone(`features/${name}`, ["^@/app/", `^@/features/(${others})/`]);
};

/** Of every file. */
const everywhere = [
  "for-direction", "no-async-promise-executor", "no-case-declarations", "no-compare-neg-zero", "no-cond-assign",
  "no-constant-binary-expression", "no-constant-condition", "no-control-regex", "no-debugger", "no-delete-var",
  "no-dupe-else-if", "no-duplicate-case", "no-empty", "no-empty-character-class", "no-empty-pattern",
  "no-empty-static-block", "no-ex-assign", "no-extra-boolean-cast", "no-fallthrough", "no-global-assign",
  "no-invalid-regexp", "no-irregular-whitespace", "no-loss-of-precision", "no-misleading-character-class",
  "no-nonoctal-decimal-escape", "no-prototype-builtins", "no-regex-spaces", "no-self-assign", "no-sparse-arrays",
  "no-unassigned-vars", "no-unexpected-multiline", "no-unsafe-finally", "no-unsafe-optional-chaining",
  "no-unused-labels", "no-unused-private-class-members", "no-useless-assignment", "no-useless-backreference",
  "no-useless-catch", "no-useless-escape", "preserve-caught-error", "require-yield", "use-isnan", "valid-typeof",
];

/** Of plain JavaScript: in TypeScript the compiler finds these. */
const scripts = [
  "constructor-super", "getter-return", "no-class-assign", "no-const-assign", "no-dupe-class-members",
  "no-dupe-keys", "no-func-assign", "no-import-assign", "no-new-native-nonconstructor", "no-obj-calls",
  "no-redeclare", "no-setter-return", "no-this-before-super", "no-undef", "no-unreachable", "no-unsafe-negation",
  "no-unused-vars", "no-with",
];

/** Of TypeScript; many of them know the types. */
const typed = [
  "no-array-constructor", "no-empty-function", "no-unused-expressions", "no-useless-constructor", "no-var",
  "prefer-const", "prefer-rest-params", "prefer-spread", "typescript/adjacent-overload-signatures",
  "typescript/array-type", "typescript/await-thenable", "typescript/ban-tslint-comment",
  "typescript/class-literal-property-style", "typescript/consistent-generic-constructors",
  "typescript/consistent-indexed-object-style", "typescript/consistent-type-assertions", "typescript/dot-notation",
  "typescript/no-array-delete", "typescript/no-base-to-string", "typescript/no-confusing-non-null-assertion",
  "typescript/no-deprecated", "typescript/no-duplicate-enum-values", "typescript/no-duplicate-type-constituents",
  "typescript/no-dynamic-delete", "typescript/no-empty-object-type", "typescript/no-explicit-any",
  "typescript/no-extra-non-null-assertion", "typescript/no-extraneous-class", "typescript/no-floating-promises",
  "typescript/no-for-in-array", "typescript/no-generated-empty-object-type", "typescript/no-implied-eval",
  "typescript/no-inferrable-types", "typescript/no-invalid-void-type", "typescript/no-meaningless-void-operator",
  "typescript/no-misused-new", "typescript/no-misused-spread", "typescript/no-mixed-enums",
  "typescript/no-namespace", "typescript/no-non-null-asserted-nullish-coalescing",
  "typescript/no-non-null-asserted-optional-chain", "typescript/no-non-null-assertion",
  "typescript/no-redundant-type-constituents", "typescript/no-require-imports", "typescript/no-this-alias",
  "typescript/no-unnecessary-boolean-literal-compare", "typescript/no-unnecessary-condition",
  "typescript/no-unnecessary-template-expression", "typescript/no-unnecessary-type-arguments",
  "typescript/no-unnecessary-type-assertion", "typescript/no-unnecessary-type-constraint",
  "typescript/no-unnecessary-type-conversion", "typescript/no-unnecessary-type-parameters",
  "typescript/no-unsafe-argument", "typescript/no-unsafe-assignment", "typescript/no-unsafe-call",
  "typescript/no-unsafe-declaration-merging", "typescript/no-unsafe-enum-assignment",
  "typescript/no-unsafe-enum-comparison", "typescript/no-unsafe-function-type",
  "typescript/no-unsafe-member-access", "typescript/no-unsafe-return", "typescript/no-unsafe-unary-minus",
  "typescript/no-useless-default-assignment", "typescript/no-wrapper-object-types",
  "typescript/non-nullable-type-assertion-style", "typescript/only-throw-error", "typescript/prefer-as-const",
  "typescript/prefer-find", "typescript/prefer-for-of", "typescript/prefer-function-type",
  "typescript/prefer-includes", "typescript/prefer-literal-enum-member", "typescript/prefer-namespace-keyword",
  "typescript/prefer-nullish-coalescing", "typescript/prefer-optional-chain",
  "typescript/prefer-promise-reject-errors", "typescript/prefer-reduce-type-parameter",
  "typescript/prefer-regexp-exec", "typescript/prefer-return-this-type",
  "typescript/prefer-string-starts-ends-with", "typescript/related-getter-setter-pairs", "typescript/require-await",
  "typescript/triple-slash-reference", "typescript/unbound-method", "typescript/unified-signatures",
  "typescript/use-unknown-in-catch-callback-variable",
];

/** Of React. */
const react = [
  "react/error-boundaries", "react/exhaustive-deps", "react/globals", "react/immutability",
  "react/incompatible-library", "react/preserve-manual-memoization", "react/purity", "react/refs",
  "react/rules-of-hooks", "react/set-state-in-effect", "react/set-state-in-render", "react/static-components",
  "react/unsupported-syntax", "react/use-memo",
];

/** Of what a page shows. */
const accessible = [
  "jsx-a11y/alt-text", "jsx-a11y/anchor-has-content", "jsx-a11y/anchor-is-valid",
  "jsx-a11y/aria-activedescendant-has-tabindex", "jsx-a11y/aria-props", "jsx-a11y/aria-proptypes",
  "jsx-a11y/aria-role", "jsx-a11y/aria-unsupported-elements", "jsx-a11y/autocomplete-valid",
  "jsx-a11y/click-events-have-key-events", "jsx-a11y/heading-has-content", "jsx-a11y/html-has-lang",
  "jsx-a11y/iframe-has-title", "jsx-a11y/img-redundant-alt", "jsx-a11y/label-has-associated-control",
  "jsx-a11y/media-has-caption", "jsx-a11y/mouse-events-have-key-events", "jsx-a11y/no-access-key",
  "jsx-a11y/no-autofocus", "jsx-a11y/no-distracting-elements",
  "jsx-a11y/no-interactive-element-to-noninteractive-role",
  "jsx-a11y/no-noninteractive-element-to-interactive-role", "jsx-a11y/no-noninteractive-tabindex",
  "jsx-a11y/no-redundant-roles", "jsx-a11y/role-has-required-aria-props",
  "jsx-a11y/role-supports-aria-props", "jsx-a11y/scope", "jsx-a11y/tabindex-no-positive",
];

/** Ways to write a number that do not know the page's language. A number that is not for people says so where it stands. */
const foreignNumbers = ["toFixed", "toPrecision", "toLocaleString"].map((property) => ({
  property,
  message: "Use `number`, `signed`, `rounded` or `percent` of `useI18n`.",
}));

/** Handlers that an element without a role must not have: more than the rule looks for by itself. */
const handlers = [
  "onFocus", "onBlur", "onKeyDown", "onKeyPress", "onKeyUp", "onClick", "onContextMenu", "onDblClick",
  "onDoubleClick", "onDrag", "onDragEnd", "onDragEnter", "onDragExit", "onDragLeave", "onDragOver", "onDragStart",
  "onDrop", "onMouseDown", "onMouseEnter", "onMouseLeave", "onMouseMove", "onMouseOut", "onMouseOver", "onMouseUp",
];

export default {
  plugins: ["typescript", "react", "jsx-a11y"],
  categories: { correctness: "off" },
  options: { typeAware: true },
  ignorePatterns: ["dist", "src/generated"],
  rules: {
    ...errors(everywhere),
    "no-shadow-restricted-names": ["error", {"reportGlobalThis": true}],
  },
  overrides: [
    { files: ["**/*.{js,mjs}"], env: { node: true }, rules: errors(scripts) },
    {
      files: ["**/*.{ts,tsx}"],
      rules: {
        ...errors(typed),
        ...errors(react),
        "complexity": ["error", {"max": 12, "variant": "modified"}],
        "max-lines": ["error", 400],
        "no-restricted-properties": ["error", ...foreignNumbers],
        "typescript/ban-ts-comment": ["error", {"minimumDescriptionLength": 10}],
        "typescript/no-confusing-void-expression": ["error", {"ignoreArrowShorthand": true}],
        "typescript/no-misused-promises": ["error", {"checksVoidReturn": {"attributes": false}}],
        "no-unused-vars": ["error", {"argsIgnorePattern": "^_", "varsIgnorePattern": "^_"}],
        "typescript/restrict-plus-operands": ["error", {"allowAny": false, "allowBoolean": false, "allowNullish": false, "allowNumberAndString": false, "allowRegExp": false}],
        "typescript/restrict-template-expressions": ["error", {"allowNumber": true}],
        "typescript/return-await": ["error", "error-handling-correctness-only"],
      },
    },
    {
      files: ["**/*.tsx"],
      env: { browser: true },
      rules: {
        ...errors(accessible),
        "jsx-a11y/no-static-element-interactions": ["error", { handlers }],
        "jsx-a11y/interactive-supports-focus": ["error", {"tabbable": ["button", "checkbox", "link", "progressbar", "searchbox", "slider", "spinbutton", "switch", "textbox"]}],
        "jsx-a11y/no-noninteractive-element-interactions": ["error", {"body": ["onError", "onLoad"], "iframe": ["onError", "onLoad"], "img": ["onError", "onLoad"]}],
      },
    },
    zone("generated", ["^@/"]),
    zone("shared", ["^@/(app|features|session|streams)/"]),
    zone("session", ["^@/(app|features|streams)/"]),
    zone("streams", ["^@/(app|features|session)/"]),
    ...features.map(featureZone),
    {
      files: ["src/**/*.test.{ts,tsx}", "src/test-setup.ts"],
      rules: { "max-lines": "off", "typescript/no-deprecated": "off" },
    },
  ],
};
