"""Parts of `./pilothouse bench factory`."""
