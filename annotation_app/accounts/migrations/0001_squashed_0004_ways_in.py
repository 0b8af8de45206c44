import annotation_app.accounts.models
import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('accounts', '0001_initial'), ('accounts', '0002_tokens'), ('accounts', '0003_groups'), ('accounts', '0004_ways_in')]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('roles', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('annotator', 'Annotator'), ('reviewer', 'Reviewer'), ('admin', 'Admin'), ('researcher', 'Researcher')], max_length=16), blank=True, default=list, size=None)),
                    ('preferences', models.JSONField(blank=True, default=dict)),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                    ('erased_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('skills', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), blank=True, default=list, size=None)),
                    ('work_removed', models.BooleanField(default=False, editable=False)),
                ],
                options={
                    'verbose_name': 'user',
                    'verbose_name_plural': 'users',
                    'abstract': False,
                },
                managers=[
                    ('objects', django.contrib.auth.models.UserManager()),
                ],
            ),
            migrations.CreateModel(
                name='Token',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='Which program it is for', max_length=64)),
                    ('sha256', models.CharField(editable=False, max_length=64, unique=True)),
                    ('expires_at', models.DateTimeField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                    ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=annotation_app.accounts.models.scopes_all, size=None)),
                    ('used_at', models.DateTimeField(editable=False, null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Group',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=64, unique=True)),
                    ('members', models.ManyToManyField(blank=True, related_name='teams', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('name',),
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sha256', models.CharField(editable=False, max_length=64, unique=True)),
                    ('email', models.EmailField(blank=True, max_length=254)),
                    ('roles', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('annotator', 'Annotator'), ('reviewer', 'Reviewer'), ('admin', 'Admin'), ('researcher', 'Researcher')], max_length=16), default=list, size=None)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField()),
                    ('groups', models.ManyToManyField(blank=True, related_name='+', to='accounts.group')),
                    ('invited_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('user', models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='invitation', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-id',),
                },
            ),
            migrations.CreateModel(
                name='SignIn',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session_key', models.CharField(editable=False, max_length=40, unique=True)),
                    ('how', models.CharField(choices=[('password', 'password'), ('sso', 'sso'), ('invite', 'invite')], max_length=8)),
                    ('agent', models.CharField(blank=True, max_length=200)),
                    ('address', models.GenericIPAddressField(null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('seen_at', models.DateTimeField(auto_now_add=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sign_ins', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-seen_at',),
                },
            ),
        ]),
    ]
