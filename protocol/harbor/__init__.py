"""Harbor task folders: `task.toml`, `instruction.md`, `environment/`, `tests/` and `solution/`, read and written."""
