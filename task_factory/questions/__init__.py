"""Browsing questions about wikis: ZIM files and live sites."""
