"""Setting up, starting, stopping and checking the platform on one machine.

Standard library only, so that it runs before anything is installed.
"""
