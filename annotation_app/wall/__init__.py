"""The wall: every running episode on one page, for reviewers and admins."""
