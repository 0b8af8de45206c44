"""Records the microphone on the recorder's timeline."""
