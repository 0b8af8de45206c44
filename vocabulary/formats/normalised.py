"""Code with its coordinates as shares of the screen, as AgentNet has it."""

import ast

FINE = 10_000
"""Four decimals."""
COORDINATES = ("x", "y", "from_coord", "to_coord")


class _Normalised(ast.NodeTransformer):
    """Named coordinates in parts of `FINE` as shares of the screen; nothing else is touched."""

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        if node.arg in COORDINATES:
            node.value = _Scaled().visit(node.value)
        return node


class _Scaled(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return ast.Constant(round(node.value / FINE, 4))
        return node


def normalised(code: str) -> str:
    """Code with its coordinates as shares of the screen. Raises SyntaxError."""
    return ast.unparse(ast.fix_missing_locations(_Normalised().visit(ast.parse(code))))
