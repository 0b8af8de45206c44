/** Entries of the audit log as people read them. Pure. */

const UUID = /([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What an entry is about, with long numbers cut to what tells them apart. */
export const shortenSubject = (subject: string): string => subject.replace(":", " ").replace(UUID, "$1");

/** What an entry says beside: name and value, without what is empty; as it stands where it is no object. */
export function formatDetails(details: string): string {
  const found = parseObject(details);
  if (found === null) return details;
  return Object.entries(found)
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

function parseObject(details: string): object | null {
  try {
    const found: unknown = JSON.parse(details);
    return typeof found === "object" && found !== null && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}

const isEmpty = (value: unknown): boolean =>
  value === "" || value === null || (typeof value === "object" && Object.keys(value).length === 0);
