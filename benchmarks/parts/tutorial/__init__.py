"""The tutorials of the documentation, read and run as they are written."""
