"""The web application: the annotation page, its storage and the services around it."""
