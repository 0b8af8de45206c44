"""Every running episode on one page, for reviewers and admins."""
