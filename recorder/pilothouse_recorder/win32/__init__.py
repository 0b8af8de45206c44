"""The Windows adapter: input from low-level hooks, pictures from GDI, elements from UI Automation.

Only `system`, `automation`, `tray_icon` and `audio.wave_in` call Windows. The other modules run everywhere.
"""
