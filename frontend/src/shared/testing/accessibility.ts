/** What assistive technology cannot work with, by axe's rules. */
import axe from "axe-core";

/** The violations in an element. Tests draw nothing, so colours are looked at in a browser. */
export async function violationsIn(element: Element): Promise<readonly string[]> {
  const { violations } = await axe.run(element, { rules: { "color-contrast": { enabled: false } } });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
