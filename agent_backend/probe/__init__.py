"""Tries a model before people meet it: which replies it gives, where its points land, and what is wrong with them."""
