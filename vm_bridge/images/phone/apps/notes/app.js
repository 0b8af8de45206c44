/** Notes: a list to search, and a page to write on. */
import { h } from "../shared/element.js";
import { back, change, go, mine, now, run, say, t } from "../shared/phone.js";
import { bar, body, button, confirm, empty, fab, iconButton, row, searchable } from "../shared/ui.js";

function line(note) {
  const element = row({
    title: note.title || t("Untitled", "无标题"),
    subtitle: note.body.replaceAll("\n", " "),
    ontap: () => go("note", note.id),
    onhold: () => remove(note.id),
  });
  element.classList.add("note");
  return h("div.card", {}, element);
}

function found(words) {
  const notes = mine().notes.filter(({ title, body }) => `${title} ${body}`.toLowerCase().includes(words));
  return notes.length ? notes.map(line) : empty(t("No notes", "没有便签"));
}

function remove(id, then) {
  confirm(t("Delete note?", "删除便签？"), "", t("Delete", "删除"), () => {
    change((notes) => (notes.notes = notes.notes.filter((note) => note.id !== id)));
    then?.();
    say(t("Note deleted", "已删除便签"));
  });
}

function home() {
  const [search, rows] = searchable(t("Search notes", "搜索便签"), found);
  rows.className = "";
  return [bar(t("Notes", "便签")), body(search, rows), fab("add", t("New note", "新建便签"), () => go("note"))];
}

const drafts = new Map();

function note(id) {
  const known = mine().notes.find((one) => one.id === id);
  if (!drafts.has(id)) drafts.set(id, { title: known?.title ?? "", body: known?.body ?? "" });
  const draft = drafts.get(id);
  const leave = () => { drafts.delete(id); back(); };
  const save = () => {
    const kept = { title: draft.title.trim(), body: draft.body.trimEnd(), at: now() };
    if (!kept.title && !kept.body) return say(t("The note is empty", "便签是空的"));
    change((notes) => {
      if (known) Object.assign(notes.notes.find((one) => one.id === id), kept);
      else notes.notes.unshift({ ...kept, id: newId(notes.notes) });
    });
    return leave();
  };
  const title = h("input.heading", { placeholder: t("Title", "标题"), "aria-label": t("Title", "标题"), autocomplete: "off", oninput: () => (draft.title = title.value) });
  const text = h("textarea.paper", { placeholder: t("Note", "内容"), "aria-label": t("Note", "内容"), spellcheck: "false", oninput: () => (draft.body = text.value) });
  title.value = draft.title;
  text.value = draft.body;
  if (!known) requestAnimationFrame(() => title.focus());
  return [
    bar("", { onback: leave, actions: [known && iconButton("bin", t("Delete note", "删除便签"), () => remove(id, leave)), button(t("Save", "保存"), save, "strong")].filter(Boolean) }),
    title,
    text,
  ];
}

const newId = (notes) => `n${Math.max(0, ...notes.map(({ id }) => Number(id.slice(1)))) + 1}`;

run({ home, note });
