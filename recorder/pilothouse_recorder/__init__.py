"""Records screen and input on a person's own computer: `pilothouse-recorder`."""
