"""Writing the ledger, and doing what its stages are."""
