"""Changing people and letting them in."""

from annotation_app.accounts.services.factors import (
    factor_begin,
    factor_confirm,
    factor_remove,
    recovery_codes_renew,
)
from annotation_app.accounts.services.invitations import (
    invitation_accept,
    invitation_accept_known,
    invitation_make,
    invitation_send,
    invitation_withdraw,
)
from annotation_app.accounts.services.people import (
    factor_remove_for,
    group_remove,
    group_save,
    person_change,
    person_erase,
)
from annotation_app.accounts.services.signing_in import (
    PREFERENCES_LIMIT,
    credentials_check,
    password_ensure,
    preferences_set,
    sessions_clear,
    sign_in,
    sign_in_end,
    sign_in_note,
    sign_in_seen,
    sign_ins_end,
    user_ensure,
)
from annotation_app.accounts.services.strangers import strangers_ensure
from annotation_app.accounts.services.tokens import digest, token_add, token_end, token_make, token_user

__all__ = (
    "PREFERENCES_LIMIT",
    "credentials_check",
    "digest",
    "factor_begin",
    "factor_confirm",
    "factor_remove",
    "factor_remove_for",
    "group_remove",
    "group_save",
    "invitation_accept",
    "invitation_accept_known",
    "invitation_make",
    "invitation_send",
    "invitation_withdraw",
    "password_ensure",
    "person_change",
    "person_erase",
    "preferences_set",
    "recovery_codes_renew",
    "sessions_clear",
    "sign_in",
    "sign_in_end",
    "sign_in_note",
    "sign_in_seen",
    "sign_ins_end",
    "strangers_ensure",
    "token_add",
    "token_end",
    "token_make",
    "token_user",
    "user_ensure",
)
