"""Code with its coordinates as shares of the screen, as AgentNet has it, and back."""

import ast

FINE = 10_000
"""Four decimals."""
COORDINATES = ("x", "y", "from_coord", "to_coord")


class _Normalised(ast.NodeTransformer):
    """Whole coordinates as shares of the screen, or the other way; nothing else is touched."""

    def __init__(self, *, back: bool) -> None:
        self._back = back

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        if node.arg in COORDINATES:
            node.value = _Scaled(back=self._back).visit(node.value)
        return node


class _Scaled(ast.NodeTransformer):
    def __init__(self, *, back: bool) -> None:
        self._back = back

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            value = round(node.value * FINE) if self._back else round(node.value / FINE, 4)
            return ast.Constant(value)
        return node


def normalised(code: str, *, back: bool = False) -> str:
    """Code with its coordinates as shares of the screen; `back`: in ten-thousandths again. Raises SyntaxError."""
    return ast.unparse(ast.fix_missing_locations(_Normalised(back=back).visit(ast.parse(code))))
