/**
 * What browsers tell of keyboards, and what a machine with a US keyboard must get.
 *
 * Events are words: `+code=key` goes down, `-code=key` up; after `/` the flags c(trl) s(hift) a(lt) m(eta) g (AltGraph) r(epeat)
 * i (composing) p (keyCode 229). `commit:text` ends a composition, `insert:text` is text without keys, `paste:text` what a `paste` event gives
 * (`⏎` is a Windows line end), `focus` the page's focus after a visit elsewhere, `click/flags` the pointer, `wait` the time for a second Escape, `blur` the loss of the focus. `␠` is a space. Sequences
 * of `observed-keyboards.json` are what real browsers sent, by engine and version (`python -m benchmarks.parts.keyboards` records them); the others are
 * those of the UI Events specification, of MDN's tables of key values, and of noVNC's and Guacamole's tests.
 */
import observed from "./observed-keyboards.json";

export interface KeyboardCase {
  readonly name: string;
  readonly mac?: boolean;
  readonly events: string;
  /** Characters as they appear there, keys and hotkeys in `<>`, `◦` a click; `EXIT` where the takeover ends. */
  readonly expected: string;
}

const windows = (name: string, events: string, expected: string): KeyboardCase => ({ name: `Windows: ${name}`, events, expected });
const mac = (name: string, events: string, expected: string): KeyboardCase => ({ name: `macOS: ${name}`, mac: true, events, expected });
const linux = (name: string, events: string, expected: string): KeyboardCase => ({ name: `Linux: ${name}`, events, expected });
const android = (name: string, events: string, expected: string): KeyboardCase => ({ name: `Android: ${name}`, events, expected });

/** A key under AltGr, with the Ctrl that Windows puts before it, and its repeats while AltGr stays down. */
const windowsAltGr = (code: string, key: string) =>
  `+ControlLeft=Control/c +AltRight=AltGraph/g +ControlLeft=Control/crg +AltRight=AltGraph/gr +${code}=${key}/g -${code}=${key}/g -ControlLeft=Control/g -AltRight=AltGraph`;
/** The same in browsers that leave the flags of Ctrl and Alt on. */
const windowsAltGrFlags = (code: string, key: string) =>
  `+ControlLeft=Control/c +AltRight=AltGraph/cag +${code}=${key}/cag -${code}=${key}/cag -ControlLeft=Control/g -AltRight=AltGraph`;
const linuxAltGr = (code: string, key: string) => `+AltRight=AltGraph +${code}=${key}/g -${code}=${key}/g -AltRight=AltGraph`;
const shifted = (code: string, key: string) => `+ShiftLeft=Shift/s +${code}=${key}/s -${code}=${key}/s -ShiftLeft=Shift`;
const plain = (code: string, key: string) => `+${code}=${key} -${code}=${key}`;
const control = (code: string, key: string) => `+ControlLeft=Control/c +${code}=${key}/c -${code}=${key}/c -ControlLeft=Control`;
const option = (code: string, key: string) => `+AltLeft=Alt/a +${code}=${key}/a -${code}=${key}/a -AltLeft=Alt`;
/** macOS tells of no key that goes up under Command. */
const command = (code: string, key: string) => `+MetaLeft=Meta/m +${code}=${key}/m -MetaLeft=Meta`;

/** What Firefox, WebKitGTK and Chromium sent under Linux. */
const OBSERVED = observed.map(({ engine, layout, name, events, expected }) => linux(`${engine}, ${layout}, ${name}`, events, expected));

export const KEYBOARD_CASES: readonly KeyboardCase[] = [
  ...OBSERVED,

  linux("US, a letter", plain("KeyA", "a"), "a"),
  linux("US, a capital", shifted("KeyA", "A"), "A"),
  linux("US, a sign with Shift", shifted("Digit1", "!"), "!"),
  linux("US, a space", plain("Space", "␠"), "<space>"),
  linux("US, a held letter repeats there", "+KeyA=a +KeyA=a/r +KeyA=a/r -KeyA=a", "a"),
  linux("US, Caps Lock", `${plain("CapsLock", "CapsLock")} ${plain("KeyA", "A")} ${shifted("KeyB", "b")} ${plain("CapsLock", "CapsLock")}`, "Ab"),
  linux("US, Ctrl with Caps Lock", control("KeyC", "C"), "<ctrl+c>"),
  linux("US, a Caps Lock that is Ctrl", "+CapsLock=Control/c +KeyC=c/c -KeyC=c/c -CapsLock=Control", "<ctrl+c>"),
  linux("US, a Caps Lock that is Escape", "+CapsLock=Escape -CapsLock=Escape wait", "<esc>"),
  linux("US, Enter and the pad's Enter", `${plain("Enter", "Enter")} ${plain("NumpadEnter", "Enter")}`, "<enter><enter>"),
  linux("US, the number pad", `${plain("Numpad7", "7")} ${plain("NumpadAdd", "+")} ${plain("NumpadMultiply", "*")}`, "7+*"),
  linux("US, the number pad without Num Lock", plain("Numpad7", "Home"), "<home>"),
  linux("US, Shift with an arrow", shifted("ArrowRight", "ArrowRight"), "<shift+right>"),
  linux("US, Ctrl+Shift+T", "+ControlLeft=Control/c +ShiftLeft=Shift/cs +KeyT=T/cs -KeyT=T/cs -ShiftLeft=Shift/c -ControlLeft=Control", "<ctrl+shift+t>"),
  linux("US, Alt+F4", "+AltLeft=Alt/a +F4=F4/a -F4=F4/a -AltLeft=Alt", "<alt+f4>"),
  linux("US, Alt+Tab twice", "+AltLeft=Alt/a +Tab=Tab/a -Tab=Tab/a +Tab=Tab/a -Tab=Tab/a -AltLeft=Alt", "<alt+tab><alt+tab>"),
  linux("US, Super alone", "+MetaLeft=Meta/m -MetaLeft=Meta", "<super>"),
  linux("X11, Alt after Shift is called Meta", "+ShiftLeft=Shift/s +AltLeft=Meta/sa +Tab=Tab/sa -Tab=Tab/sa -AltLeft=Meta/s -ShiftLeft=Shift", "<alt+shift+tab>"),
  linux("US, both Shift keys", "+ShiftLeft=Shift/s +ShiftRight=Shift/s +KeyA=A/s -KeyA=A/s -ShiftLeft=Shift/s +KeyB=B/s -KeyB=B/s -ShiftRight=Shift", "AB"),
  linux("US, keys that overlap", "+KeyA=a +KeyB=b -KeyA=a -KeyB=b", "ab"),
  linux("US, Shift let go before its letter", "+ShiftLeft=Shift/s +KeyA=A/s -ShiftLeft=Shift -KeyA=a +KeyB=b -KeyB=b", "Ab"),
  linux("US, the right Alt is an Alt", "+AltRight=Alt/a +KeyF=f/a -KeyF=f/a -AltRight=Alt", "<alt+f>"),
  linux("US, volume keys stay here", plain("AudioVolumeUp", "AudioVolumeUp"), ""),
  linux("US, Dvorak prints elsewhere", plain("KeyS", "o"), "o"),
  linux("US, Dvorak hotkeys by what is printed", control("KeyI", "c"), "<ctrl+c>"),

  linux("German, umlauts", `${plain("Semicolon", "ö")} ${shifted("Quote", "Ä")} ${plain("Minus", "ß")}`, "öÄß"),
  linux("German, Y and Z change places", `${plain("KeyY", "z")} ${plain("KeyZ", "y")}`, "zy"),
  linux("German, a slash is Shift+7", shifted("Digit7", "/"), "/"),
  linux("German, quotes are Shift+2", shifted("Digit2", '"'), '"'),
  linux("German, plus without Shift", plain("BracketRight", "+"), "+"),
  linux("German, signs on the key beside Shift", `${plain("IntlBackslash", "<")} ${shifted("IntlBackslash", ">")}`, "<>"),
  linux("German, AltGr+Q", linuxAltGr("KeyQ", "@"), "@"),
  linux("German, AltGr+7 and AltGr+0", `${linuxAltGr("Digit7", "{")} ${linuxAltGr("Digit0", "}")}`, "{}"),
  linux("German, AltGr repeats", "+AltRight=AltGraph +AltRight=AltGraph/gr +KeyE=€/g +KeyE=€/gr -KeyE=€/g -AltRight=AltGraph", "€€"),
  linux("German, Ctrl+Plus", control("BracketRight", "+"), "<ctrl+shift+=>"),
  linux("German, Ctrl+Slash", "+ControlLeft=Control/c +ShiftLeft=Shift/cs +Digit7=//cs -Digit7=//cs -ShiftLeft=Shift/c -ControlLeft=Control", "<ctrl+/>"),
  linux("German, an umlaut under Ctrl is its place", control("Semicolon", "ö"), "<ctrl+;>"),
  linux("German, Shift held over an umlaut and a letter", "+ShiftLeft=Shift/s +Quote=Ä/s -Quote=Ä/s +KeyB=B/s -KeyB=B/s +Quote=Ä/s -Quote=Ä/s -ShiftLeft=Shift", "ÄBÄ"),
  windows("German, AltGr+Q", windowsAltGr("KeyQ", "@"), "@"),
  windows("German, AltGr+8", windowsAltGr("Digit8", "["), "["),
  windows("German, AltGr+ß", windowsAltGr("Minus", "\\"), "\\"),
  windows("German, AltGr with the flags of Ctrl and Alt", windowsAltGrFlags("KeyQ", "@"), "@"),
  windows("German, AltGr alone", "+ControlLeft=Control/c +AltRight=AltGraph/g -ControlLeft=Control/g -AltRight=AltGraph", ""),
  windows("German, AltGr under a held Shift", "+ShiftLeft=Shift/s +KeyA=A/s -KeyA=A/s +ControlLeft=Control/cs +AltRight=AltGraph/sg +KeyQ=@/sg -KeyQ=@/sg -ControlLeft=Control/sg -AltRight=AltGraph/s -ShiftLeft=Shift", "A@"),
  windows("German, Ctrl+Alt that writes nothing", "+ControlLeft=Control/c +AltLeft=Alt/cag +KeyL=l/cag -KeyL=l/cag -AltLeft=Alt/c -ControlLeft=Control", "<ctrl+alt+l>"),
  windows("German, Ctrl+Alt+Delete", "+ControlLeft=Control/c +AltLeft=Alt/ca +Delete=Delete/ca -Delete=Delete/ca -AltLeft=Alt/c -ControlLeft=Control", "<ctrl+alt+delete>"),
  windows("Portuguese, a dead acute", `${plain("BracketLeft", "Dead")} ${plain("KeyE", "é")}`, "é"),
  windows("Portuguese, a dead key that fits nothing", `${plain("BracketLeft", "Dead")} ${plain("KeyX", "´x")}`, "´x"),
  windows("US International, a dead quote and a space", `${plain("Quote", "Dead")} ${plain("Space", "'")}`, "'"),
  windows("US International, a cedilla", `${plain("Quote", "Dead")} ${plain("KeyC", "ç")}`, "ç"),
  windows("Spanish, ñ and ¿", `${plain("Semicolon", "ñ")} ${shifted("Equal", "¿")}`, "ñ¿"),
  windows("French, the digit row", `${plain("Digit1", "&")} ${shifted("Digit1", "1")} ${plain("Digit2", "é")}`, "&1é"),
  windows("French, A is where Q is", `${plain("KeyQ", "a")} ${shifted("KeyQ", "A")}`, "aA"),
  windows("French, Ctrl+A by what is printed", control("KeyQ", "a"), "<ctrl+a>"),
  windows("French, a full stop is Shift+semicolon", shifted("Comma", "."), "."),
  windows("Polish, ą and Ł", `${windowsAltGr("KeyA", "ą")} +ShiftLeft=Shift/s +ControlLeft=Control/cs +AltRight=AltGraph/sg +KeyL=Ł/sg -KeyL=Ł/sg -ControlLeft=Control/sg -AltRight=AltGraph/s -ShiftLeft=Shift`, "ąŁ"),
  windows("Russian, letters", `${plain("KeyG", "п")} ${shifted("KeyH", "Р")}`, "пР"),
  windows("Russian, Ctrl+C by its place", control("KeyC", "с"), "<ctrl+c>"),
  windows("Hebrew, letters", `${plain("KeyA", "ש")} ${plain("KeyK", "ל")}`, "של"),
  windows("Chinese, a composition", "+KeyN=Process/p -KeyN=n/i +KeyI=Process/ip -KeyI=i/i +Space=Process/ip commit:你 -Space=␠", "你"),
  windows("Chinese, five characters quickly", "+KeyW=Process/p commit:我 +KeyM=Process/p commit:们 +KeyZ=Process/p commit:在 +KeyZ=Process/p commit:这 +KeyL=Process/p commit:里", "我们在这里"),
  windows("Chinese, a composition given up", "+KeyN=Process/p -KeyN=n/i +Escape=Process/ip commit: -Escape=Escape", ""),
  windows("Japanese, a composition and Enter after it", "+KeyK=Process/p +KeyA=Process/ip +Enter=Process/ip commit:か -Enter=Enter +Enter=Enter -Enter=Enter", "か<enter>"),
  windows("Japanese, the key that changes the input method", plain("KanaMode", "KanaMode"), ""),
  windows("Japanese, a yen sign", plain("IntlYen", "¥"), "¥"),
  windows("Korean, syllables", "+KeyG=Process/p -KeyG=ㅎ/i +KeyK=Process/ip commit:하 +Space=␠ -Space=␠", "하<space>"),
  windows("an emoji that was picked", "insert:🙂", "🙂"),
  windows("the Print Screen key, told on its way up", "-PrintScreen=PrintScreen", "<printscreen>"),
  windows("the second Shift let go unseen", "+ShiftLeft=Shift/s +ShiftRight=Shift/s +KeyA=A/s -KeyA=A/s -ShiftRight=Shift +KeyB=b -KeyB=b", "Ab"),

  mac("US, Option writes", option("KeyA", "å"), "å"),
  mac("US, Option with Shift writes", "+ShiftLeft=Shift/s +AltLeft=Alt/sa +KeyK=\uF8FF/sa -KeyK=\uF8FF/sa -AltLeft=Alt/s -ShiftLeft=Shift", "\uF8FF"),
  mac("German, Option+L", option("KeyL", "@"), "@"),
  mac("German, Option+5 and Option+6", `${option("Digit5", "[")} ${option("Digit6", "]")}`, "[]"),
  mac("Firefox calls Option AltGraph", "+AltLeft=Alt/ag +KeyL=@/ag -KeyL=@/ag -AltLeft=Alt", "@"),
  mac("US, Option with an arrow", option("ArrowLeft", "ArrowLeft"), "<alt+left>"),
  mac("US, a dead key under Option", "+AltLeft=Alt/a +KeyE=Dead/ap -KeyE=Dead/ai -AltLeft=Alt/i +KeyE=é/pi commit:é -KeyE=e", "é"),
  mac("US, a held letter's menu of accents", "+KeyE=e +KeyE=e/r -KeyE=e +Digit2=2/p insert:é", "eé"),
  mac("Safari, Enter that ends a composition", "+KeyK=k/p +KeyA=a/pi commit:か +Enter=Enter/p -Enter=Enter", "か"),
  mac("Command+C, and the letter never comes up", `${command("KeyC", "c")} ${plain("KeyA", "a")}`, "<super+c>a"),
  mac("Command+Z three times", "+MetaLeft=Meta/m +KeyZ=z/m +KeyZ=z/m +KeyZ=z/m -MetaLeft=Meta", "<super+z><super+z><super+z>"),
  mac("Command+Space, and Command never comes up", "+MetaLeft=Meta/m +Space=␠/m +KeyA=a -KeyA=a", "<super+space>a"),
  mac("Command+Tab away and back, then Enter", `+MetaLeft=Meta/m blur ${plain("Enter", "Enter")}`, "<enter>"),

  linux("Alt+Tab away and back, then Enter", `+AltLeft=Alt/a +Tab=Tab/a blur ${plain("Enter", "Enter")}`, "<alt+tab><enter>"),
  linux("a Ctrl that was down before", "+KeyC=c/c -KeyC=c/c -ControlLeft=Control", "<ctrl+c>"),
  linux("Ctrl held during a click", "+ControlLeft=Control/c click/c -ControlLeft=Control", "<ctrl+◦>"),
  linux("a click after a modifier was let go unseen", "+ControlLeft=Control/c +KeyC=c/c -KeyC=c/c click", "<ctrl+c>◦"),
  linux("one Escape", `${plain("Escape", "Escape")} wait`, "<esc>"),
  linux("an Escape and a letter at once", `${plain("Escape", "Escape")} ${plain("KeyA", "a")}`, "<esc>a"),
  linux("two Escapes send nothing", `${plain("Escape", "Escape")} ${plain("Escape", "Escape")}`, "EXIT"),
  linux("Ctrl+Alt+T sends nothing", "+ControlLeft=Control/c +AltLeft=Alt/ca +KeyT=t/ca", "EXIT"),
  mac("Ctrl+Option+T sends nothing", "+ControlLeft=Control/c +AltLeft=Alt/ca +KeyT=†/ca", "EXIT"),
  linux("Ctrl+Escape is a hotkey", control("Escape", "Escape"), "<ctrl+esc>"),

  linux("Firefox, Ctrl+V", "+ControlLeft=Control/c +KeyV=v/c paste:a␠b⏎ç -KeyV=v/c -ControlLeft=Control", "a b\nç"),
  linux("Firefox, Ctrl+V held", "+ControlLeft=Control/c +KeyV=v/c paste:ab +KeyV=v/cr +KeyV=v/cr -KeyV=v/c -ControlLeft=Control", "ab"),
  linux("Firefox, Ctrl+V, and the clipboard is empty", "+ControlLeft=Control/c +KeyV=v/c paste: -KeyV=v/c -ControlLeft=Control", "<ctrl+v>"),
  linux("Ctrl+V, and no paste comes", control("KeyV", "v"), "<ctrl+v>"),
  linux("Ctrl+C there, then Ctrl+V", `${control("KeyC", "c")} ${control("KeyV", "v")}`, "<ctrl+c><ctrl+v>"),
  linux(
    "Ctrl+C there, a copy elsewhere, then Ctrl+V",
    `${control("KeyC", "c")} blur focus +ControlLeft=Control/c +KeyV=v/c paste:new -KeyV=v/c -ControlLeft=Control`,
    "<ctrl+c>new",
  ),
  linux("Ctrl+Shift+V is the machine's", "+ControlLeft=Control/c +ShiftLeft=Shift/cs +KeyV=V/cs -KeyV=V/cs -ShiftLeft=Shift/c -ControlLeft=Control", "<ctrl+shift+v>"),
  windows("Ctrl+V, then a letter under Ctrl", "+ControlLeft=Control/c +KeyV=v/c paste:ab -KeyV=v/c +KeyA=a/c -KeyA=a/c -ControlLeft=Control", "ab<ctrl+a>"),
  windows("the browser's menu pastes", "paste:a@b", "a@b"),
  mac("Safari, Command+V", "+MetaLeft=Meta/m +KeyV=v/m paste:ü@ -MetaLeft=Meta", "ü@"),
  mac("Safari, Command+V twice", "+MetaLeft=Meta/m +KeyV=v/m paste:a +KeyV=v/m paste:b -MetaLeft=Meta", "ab"),
  mac("Ctrl+V is the machine's", control("KeyV", "v"), "<ctrl+v>"),

  android("text without keys", "+=Unidentified/p insert:hello -=Unidentified/p", "hello"),
  android("Enter on the screen's keyboard", plain("", "Enter"), "<enter>"),
];
