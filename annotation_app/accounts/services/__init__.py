"""Changing people and letting them in."""

from annotation_app.accounts.services.external_annotators import external_annotators_ensure
from annotation_app.accounts.services.factors import (
    factor_confirm,
    factor_remove,
    factor_setup_start,
    recovery_codes_renew,
)
from annotation_app.accounts.services.invitations import (
    invitation_accept,
    invitation_accept_by_email,
    invitation_make,
    invitation_send,
    invitation_withdraw,
)
from annotation_app.accounts.services.passwords import (
    password_change,
    password_link_mail,
    password_link_make,
    password_link_send,
    password_reset,
)
from annotation_app.accounts.services.people import (
    group_remove,
    group_save,
    person_change,
    person_erase,
    person_factor_remove,
    person_sign_ins_end,
)
from annotation_app.accounts.services.sign_ins import (
    PREFERENCES_LIMIT_BYTES,
    credentials_check,
    password_ensure,
    preferences_set,
    reauthenticate,
    reauthentication_check,
    sessions_clear,
    sign_in,
    sign_in_end,
    sign_in_record,
    sign_in_touch,
    sign_ins_end,
    user_ensure,
)
from annotation_app.accounts.services.tokens import digest_secret, token_add, token_end, token_make, token_user

__all__ = (
    "PREFERENCES_LIMIT_BYTES",
    "credentials_check",
    "digest_secret",
    "external_annotators_ensure",
    "factor_confirm",
    "factor_remove",
    "factor_setup_start",
    "group_remove",
    "group_save",
    "invitation_accept",
    "invitation_accept_by_email",
    "invitation_make",
    "invitation_send",
    "invitation_withdraw",
    "password_change",
    "password_ensure",
    "password_link_mail",
    "password_link_make",
    "password_link_send",
    "password_reset",
    "person_change",
    "person_erase",
    "person_factor_remove",
    "person_sign_ins_end",
    "preferences_set",
    "reauthenticate",
    "reauthentication_check",
    "recovery_codes_renew",
    "sessions_clear",
    "sign_in",
    "sign_in_end",
    "sign_in_record",
    "sign_in_touch",
    "sign_ins_end",
    "token_add",
    "token_end",
    "token_make",
    "token_user",
    "user_ensure",
)
