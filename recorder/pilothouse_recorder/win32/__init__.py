"""Windows: input by low-level hooks, pictures by GDI, elements by UI Automation. Only `system`, `automation`,
`tray_icon` and `audio.wave_in` call Windows; the rest runs everywhere."""
