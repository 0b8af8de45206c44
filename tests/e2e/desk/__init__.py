"""What annotators and reviewers are promised of the desk, and the test in a real browser that shows it.

No override runs with a thought that belongs to another action:

* Hotkeys and typed texts are composed first, with an empty thought
  → `test_override.test_typing_hotkeys_and_clipboard` (beside this package, as all below but the takeover)
* Apps are composed first → `test_phone.test_apps_and_buttons_of_the_phone_are_a_key_away`
* Commands, files, code and tools are composed first → `test_tools.test_a_task_is_done_from_the_panels`
* An inherited thought is selected, so that one key replaces it; nothing is inherited from a candidate of another kind,
  nor from one farther than its target → `test_override.test_pointing_at_the_picture`
* A pool may allow a thought later; the step says that it is owed, then that it was written later
  → `test_override.test_a_thought_follows_its_step_where_the_pool_allows_it`

A takeover → `desk.test_takeover.test_a_takeover_becomes_a_gesture`:

* AltGr, dead keys, umlauts, Caps Lock and input methods arrive as what was written, and not in the thought
* Cmd or Meta whose letter never comes up leaves nothing down
* Keys are let go where the page is silent or loses the focus, where the connection is lost, and at the end
* What was typed without a connection is not typed later; leaving sends nothing to the machine
* `frontend/src/features/annotate/testing/keyboard-cases.ts` has the layouts and the browsers' event sequences

The autopilot → `test_override.test_the_autopilot_runs_until_one_key_stops_it`: Escape stops it with the focus on the
page, the picture, the thought or the action, over a tooltip, and while a past step is looked at

Enter follows the state:

* Finish, and the next task, on a page that has ended
  → `test_browser.test_a_classic_task_is_scored_by_its_own_reward`
* Nothing while a past step is looked at → `test_override.test_typing_hotkeys_and_clipboard`
* "Sending…" without a connection → `test_recovery.test_a_killed_web_process_loses_and_doubles_nothing`

Pointing:

* Keys held during a click are recorded → `test_override.test_pointing_at_the_picture`; refused where the machine cannot
  hold them → `test_phone.test_apps_and_buttons_of_the_phone_are_a_key_away`
* A drag that ends outside or by Escape is cancelled, and a middle click pastes nothing
  → `test_override.test_pointing_at_the_picture`
* What the clipboard gave or took is shown at the step and in the replay, of which the review is a part
  → `test_override.test_typing_hotkeys_and_clipboard`

Review → `test_review`:

* An overridden step calls none of its candidates chosen; work with several wrong steps that was sent back opens at the
  first of them, its comment on top → `test_what_waits_is_gone_through_by_keys_alone`
* A point is corrected on the picture → `test_sent_back_mended_and_accepted`

Accessibility and layout:

* Every page → `test_pages`; dialogs → `test_dialogs`, or the test that has what the dialog is about
* No text is cut off or lies on another at widths of 1024 and 420 → `test_pages.test_pages_are_accessible`
"""
