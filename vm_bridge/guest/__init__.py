"""The agent inside a sandbox. It runs under the distribution's Python, away from the platform: standard library,
python-xlib and PyAutoGUI only, and `vm_bridge.settle`."""
