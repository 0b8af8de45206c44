"""What a web process serves: the application, as it stays until the process ends."""

import gc

from daphne import http_protocol

from annotation_app.asgi import application as application
from annotation_app.web.body_admission import AdmittedRequest
from annotation_app.web.request_logging import silence_access_log

silence_access_log()
http_protocol.WebRequest = AdmittedRequest  # what its factory makes of each request

# What is there now stays; going through it again would hold every annotator up for a tenth of a second each time.
gc.collect()
gc.freeze()
