"""How what a machine is asked over its wire can fail."""


class TransportError(Exception):
    """The machine, or what leads to it, did not do what it was asked: whether it happened is not known."""


class ActionFailed(Exception):
    """The machine could not do it; `code` is stable. `text` is what it gave before."""

    def __init__(self, code: str, message: str, text: str | None = None) -> None:
        super().__init__(message)
        self.code, self.text = code, text
