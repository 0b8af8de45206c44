/** The dialects of open models: of policies on servers of one's own, and of training data; the usual one first. */
import type { RevisionRegistration } from "@/generated/api";

export const DIALECTS = [
  "ui_tars_1_5",
  "ui_tars_2",
  "ui_tars_1_0",
  "doubao_1_5_ui_tars",
  "doubao_1_5_ui_tars_15b",
  "opencua",
  "evocua_s1",
  "qwen_computer",
  "qwen2_5_computer",
  "qwen_mobile",
  "fara",
  "glm_v",
  "autoglm_phone",
  "ui_venus",
  "holo",
  "holo_1_5",
  "json_calls",
] as const satisfies readonly RevisionRegistration["dialect"][];
