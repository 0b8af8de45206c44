"""Muon in the precision of the processor: torch's own steps but for rounding, and its states are taken up."""

import pytest
import torch

from trainer.nano.muon import Muon, orthogonalize, precision

RATE, MOMENTUM, DECAY = 0.02, 0.95, 0.01


@pytest.mark.parametrize("shape", [(48, 16), (16, 48), (24, 24)])
def test_its_steps_are_those_of_torch_but_for_the_rounding_of_bfloat16(shape: tuple[int, int]) -> None:
    draw = torch.Generator().manual_seed(1)
    begun = torch.randn(shape, generator=draw)
    ours, theirs = (torch.nn.Parameter(begun.clone()) for _ in range(2))
    one = Muon([ours], lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    other = torch.optim.Muon([theirs], lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    for _ in range(4):
        gradient = torch.randn(shape, generator=draw)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        one.step()
        other.step()
    moved = (begun - theirs).norm().item()
    assert moved > 0.1
    assert (ours - theirs).norm().item() < 0.03 * moved


def test_it_goes_on_from_what_torch_has_written() -> None:
    weight = torch.nn.Parameter(torch.ones(4, 3))
    weight.grad = torch.eye(4, 3)
    theirs = torch.optim.Muon([weight], lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    theirs.step()
    ours = Muon([weight], lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    ours.load_state_dict(theirs.state_dict())
    assert torch.equal(ours.state[weight]["momentum_buffer"], theirs.state[weight]["momentum_buffer"])
    weight.grad = None
    before = weight.detach().clone()
    ours.step()
    assert torch.equal(weight, before), "what has no gradient stays"


def test_a_matrix_is_made_nearly_orthogonal() -> None:
    near = orthogonalize(torch.randn(8, 32, generator=torch.Generator().manual_seed(2)), torch.float32)
    lengths = torch.linalg.svdvals(near)
    assert 0.6 < lengths.min() <= lengths.max() < 1.3


def test_bfloat16_is_taken_only_where_the_processor_multiplies_it() -> None:
    has = torch.cpu.get_capabilities()
    assert (precision() == torch.bfloat16) == bool(has.get("avx512_bf16") or has.get("amx_bf16"))
