"""The macOS adapter: input from an event tap, pictures from Core Graphics, elements from Accessibility.

Only `system`, `event_tap`, `foundation`, `accessibility`, `objective_c`, `menu_bar` and `audio.audio_queue` call macOS.
The other modules run everywhere.
"""
