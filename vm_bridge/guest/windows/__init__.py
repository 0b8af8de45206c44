"""The same agent under Windows: standard library, PyAutoGUI, Pillow and Pyperclip, and the parts of `vm_bridge.guest`
that are of no one system."""
