"""A project of its own in this repository: `pilothouse_recorder` is what it installs."""
