"""Users in Django's admin. Models of other packages are unregistered there, because pages or settings manage them."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group as PermissionGroup
from django.http import HttpRequest

from annotation_app.accounts.models import Token, User

admin.site.unregister((EmailAddress, Authenticator, PermissionGroup, SocialAccount, SocialApp, SocialToken))


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    list_display = ("username", "first_name", "roles", "is_active")
    fieldsets = (*(DjangoUserAdmin.fieldsets or ()), ("Pilothouse", {"fields": ("roles",)}))


@admin.register(Token)
class TokenAdmin(admin.ModelAdmin[Token]):
    """`manage.py make_token` makes tokens; the admin only revokes them."""

    list_display = ("name", "user", "created_at", "expires_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
