"""Makes a disk with Windows and our agent from an installation medium, without anybody at the screen."""
