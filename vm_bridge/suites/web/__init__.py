"""Browser tasks that come with the bridge: their format, their sites, and the check that they keep it."""
