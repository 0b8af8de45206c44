/** An amount of US dollars in words of a language. */
export const dollars = (amount: number, language: string): string =>
  new Intl.NumberFormat(language, { style: "currency", currency: "USD" }).format(amount);
