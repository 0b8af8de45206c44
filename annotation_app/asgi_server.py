"""The ASGI application that a web process serves, unchanged until the process ends."""

import gc

from daphne import http_protocol

from annotation_app.asgi import application as application
from annotation_app.web.body_admission import AdmittedRequest
from annotation_app.web.request_logging import silence_access_log

silence_access_log()
http_protocol.WebRequest = AdmittedRequest  # what its factory makes of each request

# Freeze existing objects: each further collection of them would block every annotator for a tenth of a second.
gc.collect()
gc.freeze()
