"""Probes a model before annotators use it: which replies it gives, where its points land, and what is wrong with
them."""
