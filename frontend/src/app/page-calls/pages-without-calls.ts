/** The pages that no call of a program stands for, by the id of their route, with the reason. */
export const PAGES_WITHOUT_CALLS: Readonly<Record<string, string>> = {
  "join/:secret?": "It makes an account from a link; there is no token yet.",
  "reset-password": "It sets a password from a link; there is no token yet.",
  preferences: "Theme, language and keys are of the person at the page.",
  recorder: "People pair their computers and decide on their recordings at the page; a recorder's token only uploads.",
  "sign-in": "It leads on to another page.",
  index: "It leads on to another page.",
  "*": "There is no such page.",
};
