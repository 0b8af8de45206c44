/** The kinds of variants that a model writes of recorded thoughts. */
import type { VariantIn } from "@/generated/api";

export const VARIANT_KINDS = ["enriched", "diversified"] as const satisfies VariantIn["kind"][];
