"""Set up, start, stop and check the platform on one machine.

Standard library only, so that it runs before anything is installed.
"""
