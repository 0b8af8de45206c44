"""The drivers of machines, one per file. No driver knows another."""
