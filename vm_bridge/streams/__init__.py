"""Pixels to the browser, and nothing back: WebRTC, still frames, and VNC."""
