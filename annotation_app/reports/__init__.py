"""What the work adds up to: counted from episodes, steps and proposals, kept nowhere."""
