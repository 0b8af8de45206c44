"""Bridge hosts on a Ray cluster. Ray finds each a node with room, restarts it, and detects dead nodes.

Within the bridge, only this package imports Ray. `requirements.txt` in this folder lists its dependencies.
"""
