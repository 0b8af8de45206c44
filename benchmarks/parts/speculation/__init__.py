"""Doing the first candidate ahead: waits with it and without, how often the guess holds, what it changes."""
