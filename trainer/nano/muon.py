"""Muon for matrices, computed in the precision that the processor multiplies: torch's own always takes bfloat16, which
without instructions for it is a hundred times slower than single precision and takes nearly all of an update's time.

Source: Keller Jordan, *Muon: An optimizer for hidden layers in neural networks*; the figures are torch.optim.Muon's.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import sqrt
from typing import Any

import torch

QUINTIC = (3.4445, -4.7750, 2.0315)
STEPS = 5
LEAST = 1e-7


class Muon(torch.optim.Optimizer):  # type: ignore[misc]
    """Momentum whose steps are made orthogonal; takes up what torch.optim.Muon has written."""

    def __init__(self, params: Iterable[Any], *, lr: float, momentum: float = 0.95, weight_decay: float = 0.01) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One step on the gradients there are."""
        loss = None if closure is None else closure()
        with torch.no_grad():
            for group in self.param_groups:
                for weight in group["params"]:
                    if weight.grad is not None:
                        self._moved(weight, group)
        return loss

    def _moved(self, weight: torch.Tensor, group: Mapping[str, Any]) -> None:
        state, rate = self.state[weight], group["lr"]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(weight)
        moved: torch.Tensor = state["momentum_buffer"]
        moved.lerp_(weight.grad, 1 - group["momentum"])
        step = orthogonalize(weight.grad.lerp(moved, group["momentum"]), precision())
        weight.mul_(1 - rate * group["weight_decay"])
        weight.add_(step, alpha=-rate * sqrt(max(1.0, weight.shape[0] / weight.shape[1])))


def orthogonalize(matrix: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """About the nearest matrix whose rows, or columns, are orthogonal and of length one: five steps of Newton and
    Schulz; shape as given."""
    a, b, c = QUINTIC
    rows, columns = matrix.shape
    near = (matrix.T if rows > columns else matrix).to(dtype)
    near = near / near.norm().clamp(min=LEAST)
    for _ in range(STEPS):
        square = near @ near.T
        near = torch.addmm(near, torch.addmm(square, square, square, beta=b, alpha=c), near, beta=a)
    return (near.T if rows > columns else near).to(matrix.dtype)


@cache
def precision() -> torch.dtype:
    """bfloat16 where the processor has instructions for it."""
    has = torch.cpu.get_capabilities()
    return torch.bfloat16 if has.get("avx512_bf16") or has.get("amx_bf16") else torch.float32
