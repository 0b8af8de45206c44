"""Keyboards of real browsers: which events they send for keys, as cases of the front-end's tests."""
