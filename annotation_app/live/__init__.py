"""Live annotation: sockets and runners. This package connects the other layers."""
