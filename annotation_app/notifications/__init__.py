"""Notices for people, in the bar and by mail, and signed webhook messages for programs."""
