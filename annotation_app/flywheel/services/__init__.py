"""Writes to the ledger, and the work of the stages."""
