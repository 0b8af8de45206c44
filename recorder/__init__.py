"""The desktop recorder, a separate project in this repository. It installs `pilothouse_recorder`."""
