/** Why a row of an export was left out, in words. Pure. */
import type { PlainKey, Translate } from "@/shared/i18n/i18n";

const REASONS: Readonly<Record<string, PlainKey>> = {
  special_word: "exports.reason.special_word",
  not_normalised: "exports.reason.not_normalised",
  image_count: "exports.reason.image_count",
  mask: "exports.reason.mask",
  point_outside: "exports.reason.point_outside",
  unreadable: "exports.reason.unreadable",
  coordinates: "exports.reason.coordinates",
  turns: "exports.reason.turns",
  unsayable: "exports.reason.unsayable",
  key: "exports.reason.key",
};

/** The words of a code; a code this page does not know stands as it is. */
export function reasonInWords(t: Translate, code: string): string {
  const key = REASONS[code];
  return key ? t(key) : code;
}
