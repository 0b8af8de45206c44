"""Programs of every Windows."""

APPS = {
    "editor": ("notepad",),
    "notepad": ("notepad",),
    "terminal": ("cmd", "/k"),
    "powershell": ("powershell",),
    "files": ("explorer",),
    "explorer": ("explorer",),
    "calculator": ("calc",),
    "browser": ("cmd", "/c", "start", "", "microsoft-edge:"),
}
"""Programs `open_app` starts, by the names people use."""
