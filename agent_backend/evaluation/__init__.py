"""How good a policy is: its attempts in folders, counted with their uncertainty, and compared with another's."""
