"""The home page: everything that needs the attention of reviewers, researchers and admins, in one response."""
