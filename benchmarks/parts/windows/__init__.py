"""The contract of every machine, kept by our agent on Windows' side of Wine."""
