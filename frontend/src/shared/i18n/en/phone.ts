/** Messages about phones, in English. */
export const phoneMessages = {
  "phone.pad": "The phone's buttons and apps",
  "phone.home": "Home",
  "phone.home.help": "Press the phone's home button",
  "phone.back": "Back",
  "phone.back.help": "Press the phone's back button",
  "phone.apps": "Open an app",
  "phone.apps.help": "Open one of the phone's apps by name",
  "phone.apps.none": "The phone has not said which apps it has.",
  "phone.apps.typed": "No such app is listed. Enter tries the name as it is written.",
  "phone.point.help":
    "Arrow keys move the crosshair, with Shift by single pixels, with Ctrl to the next marker or element. Enter taps, Shift+Enter presses long, M shows everything that can be done there.",
} as const;
