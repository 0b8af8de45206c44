"""People: users, their roles, signing in."""
