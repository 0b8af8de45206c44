"""Videos of episodes, recorded by the bridge and stored with the episode."""
