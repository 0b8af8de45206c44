"""Users in Django's admin."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin

from annotation_app.accounts.models import User


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    list_display = ("username", "first_name", "roles", "is_active")
    fieldsets = (*(DjangoUserAdmin.fieldsets or ()), ("Pilothouse", {"fields": ("roles",)}))
