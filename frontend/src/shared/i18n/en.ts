/** The English catalogue: the one that defines which messages exist. */
import { deskMessages } from "./en/desk";
import { panelMessages } from "./en/panels";
import { sharedMessages } from "./en/shared";
import { shellMessages } from "./en/shell";

export const en = { ...sharedMessages, ...shellMessages, ...deskMessages, ...panelMessages } as const;
