"""Parts of `./pilothouse bench tasks`."""
