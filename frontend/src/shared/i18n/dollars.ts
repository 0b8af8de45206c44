import { numberFormat } from "./intl";

/** An amount of US dollars in words of a language; of less than a dollar, two digits that count. */
export const dollars = (amount: number, language: string): string => {
  const digits = amount > 0 && amount < 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 1 - Math.floor(Math.log10(amount)) } : {};
  return numberFormat(language, { style: "currency", currency: "USD", ...digits }).format(amount);
};
