"""Probes of models: asked for by admins, repeated when a server changes and once a day, and compared."""
