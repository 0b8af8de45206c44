"""macOS: input by an event tap, pictures by Core Graphics, elements by Accessibility. Only `system`, `event_tap`,
`foundation`, `accessibility`, `objective_c`, `menu_bar` and `audio.audio_queue` call macOS; the rest runs
everywhere."""
