"""The agent inside a sandbox. It runs under the distribution's Python, separate from the platform.

It uses only the standard library, python-xlib, PyAutoGUI and `vm_bridge.settle`.
"""
