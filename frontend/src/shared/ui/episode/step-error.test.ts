import { expect, test } from "vitest";

import { i18nFor } from "@/shared/i18n/i18n";

import { describeStepError } from "./step-error";

const refused = (message: string) => ({ code: "secret_refused", message });

test("a reason keeps its names in another language", () => {
  const error = refused("secret:SHOP may be used at shop.example.org, *.example.org only. This page is at evil.test:8080. Nothing was done.");
  expect(describeStepError(error, i18nFor("zh"))).toBe("secret:SHOP 只能在 shop.example.org, *.example.org 使用。当前页面位于 evil.test:8080。未执行任何操作。");
  expect(describeStepError(error, i18nFor("en"))).toBe(error.message);
});

test.each([
  ["secret:A may be used by type_text only, not by navigate. Nothing was done.", "secret:A 只能由 type_text 使用，不能由 navigate 使用。未执行任何操作。"],
  ["secret:A may be used in xterm only. mousepad is in front. Nothing was done.", "secret:A 只能在 xterm 中使用。最前面的是 mousepad。未执行任何操作。"],
  ["The page changed to another host before the secret could be used. Look again, and decide again.", "在使用密钥之前，页面换到了另一台主机。请再看一次画面，再作决定。"],
])("%s", (message, chinese) => {
  expect(describeStepError(refused(message), i18nFor("zh"))).toBe(chinese);
});

test("what has no fixed form is shown as it is", () => {
  expect(describeStepError(refused("Something else."), i18nFor("zh"))).toBe("Something else.");
  expect(describeStepError({ code: "unsupported_action", message: "this machine cannot drag" }, i18nFor("zh"))).toBe("this machine cannot drag");
});
