"""Writers of the tables of notices and webhooks."""
