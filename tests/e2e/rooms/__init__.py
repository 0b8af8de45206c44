"""What admins, researchers and operators do in the app, in a real browser.

What keeps work from going on, and what was called wrongly, each with its test:

* Images, suites and tasks come from what bridges report, rows of uploads too
  → `test_pools.test_names_that_nobody_has_cannot_be_chosen`
* Desk, *Machines* and *Health* tell of an image that no host makes any more
  → `test_pools.test_an_image_that_no_host_makes_is_told_where_it_is_missed`
* Tasks edited, withdrawn and deleted in bulk, each with undo; gold by a column and in the list
  → `test_pools.test_tasks_are_changed_together_and_taken_back`
* Gold by the episode that a reviewer accepts, and by an admin's choice
  → `test_data.test_tasks_become_gold_by_what_a_reviewer_accepts_and_an_admin_chooses`
* Two-factor reset by an admin; sessions listed and ended by the person, ended by an admin
  → `test_people.test_invited_a_second_factor_and_browsers_sent_away` (beside this package, as the next two)
* An admin's one-time link, a changed password
  → `test_people.test_a_forgotten_password_is_replaced_by_an_admins_link`
* A link by mail, re-authentication before tokens and factors, idle and absolute limits of sessions
  → `test_people.test_a_link_by_mail_and_the_ends_of_a_sign_in`
* Policies edited and retired; sampling, memory and prompt as forms
  → `test_policies.test_a_revision_is_edited_copied_retired_and_brought_back`
* The error of a model ends with its revision; *Health* names the model that a server lacks
  → `test_policies.test_the_error_of_a_model_ends_with_its_revision`
* Each filter changes the count; exports hold what was found and say what that is, or that it is nothing; queries are
  kept and versions frozen → `test_data.test_what_was_found_is_exported_kept_and_frozen`
* A disk is told of before it is full and when it is; a flood of failures writes few lines
  → `test_disk.test_a_disk_that_fills_is_told_and_floods_no_log`
"""
