"""Users, groups, and all means of access: invitations, sign-ins, tokens."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models

from annotation_app.accounts.scopes import ALL_SCOPES


class Role(models.TextChoices):
    """What a person may do. One person may have several roles."""

    ANNOTATOR = "annotator"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    RESEARCHER = "researcher"


class User(AbstractUser):
    """A person with roles and front-end preferences."""

    roles = ArrayField(models.CharField(max_length=16, choices=Role.choices), default=list, blank=True)
    preferences = models.JSONField(default=dict, blank=True)
    skills = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    """Skill tags in lower case. Pools require them."""
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    """When their name, address and sign-in were erased at their request."""
    work_removed = models.BooleanField(default=False, editable=False)
    """Whether their episodes are kept out of every export and dataset."""

    @property
    def name(self) -> str:
        """The display name."""
        return self.get_full_name() or self.username

    def has_role(self, *roles: str) -> bool:
        """Whether they have any of these roles. A superuser has all."""
        return self.is_superuser or any(role in self.roles for role in roles)


def scopes_all() -> list[str]:
    """Default scopes of a token: all."""
    return list(ALL_SCOPES)


class Group(models.Model):
    """People who are assigned together. Pools name groups and skills, which apply to their current members."""

    name = models.CharField(max_length=64, unique=True)
    members = models.ManyToManyField(User, blank=True, related_name="teams")

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Token(models.Model):
    """A token with which a program acts as a person; only its digest is stored. It expires at `expires_at`, or when
    deleted."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=64, help_text="Which program it is for")
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=40), default=scopes_all, blank=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, editable=False)

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class Invitation(models.Model):
    """A single-use link with which one person creates their account, valid until it expires. Only its digest is
    stored."""

    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    email = models.EmailField(blank=True)
    roles = ArrayField(models.CharField(max_length=16, choices=Role.choices), default=list)
    groups = models.ManyToManyField(Group, blank=True, related_name="+")
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="invitation", editable=False
    )
    """The account that was created with it."""

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.email or f"invitation {self.pk}"


class PasswordLink(models.Model):
    """A single-use link with which one person sets a new password, valid until it expires. Only its digest is
    stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="password_links")
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    """The admin who made it; None if it was requested by mail."""
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"password link of {self.user}"


class SignIn(models.Model):
    """One browser in which a person is signed in. It is deleted with its session."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_ins")
    session_key = models.CharField(max_length=40, unique=True, editable=False)
    how = models.CharField(max_length=8, choices=[(how, how) for how in ("password", "sso", "invite")])
    agent = models.CharField(max_length=200, blank=True)
    address = models.GenericIPAddressField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-seen_at",)

    def __str__(self) -> str:
        return f"{self.user} since {self.created_at}"
