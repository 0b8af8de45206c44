/** What of a candidate on its way is thought and what is action; pure. */

const ACTION = /\n\s*Action\s*:\s*/;
const THOUGHT = /^\s*Thought\s*:\s*/;

/** Text as it is generated, cut where the action begins; a grammar without these words is all thought. */
export function splitPartial(text: string): { thought: string; action: string } {
  const cut = ACTION.exec(text);
  const thought = (cut === null ? text : text.slice(0, cut.index)).replace(THOUGHT, "");
  return { thought, action: cut === null ? "" : text.slice(cut.index + cut[0].length) };
}
