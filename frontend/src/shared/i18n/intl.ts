/** The browser's formats. One takes 0.1 ms to make, and a table needs hundreds: each is made once. */

/** A format by its locale and options, made when it is first asked for. */
const once = <Options extends object, Made>(make: (locale: string, options?: Options) => Made) => {
  const made = new Map<string, Made>();
  return (locale: string, options?: Options): Made => {
    const key = `${locale} ${JSON.stringify(options ?? {})}`;
    const found = made.get(key);
    if (found !== undefined) return found;
    const format = make(locale, options);
    made.set(key, format);
    return format;
  };
};

export const numberFormat = once((locale, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
export const dateFormat = once((locale, options?: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options));
export const relativeFormat = once((locale, options?: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options));
export const pluralRules = once((locale) => new Intl.PluralRules(locale));
