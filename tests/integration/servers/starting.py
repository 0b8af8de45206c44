"""Where scripts that run at present find it."""

from annotation_app.operations.ports import free_port as free_port
from annotation_app.operations.stack import ROOT as ROOT
from benchmarks.parts.servers.starting import started as started
