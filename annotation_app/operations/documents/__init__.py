"""Checks of the documentation's pages: links, headings, and sentence length."""
