"""Telling other programs what happened, by signed messages to addresses that admins register."""
