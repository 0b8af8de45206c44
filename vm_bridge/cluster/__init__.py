"""Bridge hosts placed over a Ray cluster: Ray finds each a node with room, restarts it, and notices nodes that die.

Every file that knows Ray is here; `requirements.txt` beside it is what these need.
"""
