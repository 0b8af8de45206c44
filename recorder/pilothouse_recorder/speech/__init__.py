"""Transcribes speech to words with times, with an engine of the person's choice."""
