"""Probes of models: requested by admins, repeated when a server changes and once a day, and compared."""
