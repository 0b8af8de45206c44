"""Sound of the microphone on the recorder's time line."""
