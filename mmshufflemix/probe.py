"""Run a model once on two images and note the features at chosen modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ['Feature', 'find_feature', 'probe_modules', 'replace_feature']


@dataclass(frozen=True)
class Feature:
    """What a module gave in the probe.

    Attributes:
        shape: Shape of its features, with a batch of two.
        problem: Why they cannot be mixed, None if they can.
    """

    shape: tuple[int, ...] = ()
    problem: str | None = None

    @property
    def spatial(self) -> tuple[int, ...]:
        """Extent without batch and channels: (H, W), (L,), or () for pooled features."""
        return self.shape[2:] if len(self.shape) != 3 else self.shape[1:2]


def find_feature(output: Any, batch_size: int) -> tuple[int | None, Tensor] | None:
    """Find the one floating-point tensor with a batch axis in an output.

    Args:
        output: A tensor, or a tuple or list with tensors among other values.
        batch_size: Required length of axis 0.

    Returns:
        Position (None where the output is the tensor itself) and tensor, or None unless there is
        exactly one.
    """
    entries = enumerate(output) if isinstance(output, list | tuple) else [(None, output)]
    found = [
        (position, value)
        for position, value in entries
        if isinstance(value, Tensor)
        and value.is_floating_point()
        and value.ndim >= 2
        and value.shape[0] == batch_size
    ]
    tensors = [output] if isinstance(output, Tensor) else output
    if not isinstance(output, list | tuple | Tensor) or len(found) != 1:
        return None
    others = sum(isinstance(v, Tensor) and v.is_floating_point() for v in tensors)
    nested = any(
        isinstance(v, list | tuple) and any(isinstance(t, Tensor) for t in v) for v in tensors
    )
    return None if others > 1 or nested else found[0]


def replace_feature(output: Any, position: int | None, value: Tensor) -> Any:
    """The same output with another tensor at a position, the container type kept."""
    if position is None:
        return value
    items = [*output[:position], value, *output[position + 1 :]]
    if hasattr(output, '_fields'):
        return type(output)(*items)
    return type(output)(items)


@torch.no_grad()
def probe_modules(
    model: nn.Module, modules: dict[str, nn.Module], inputs: Tensor, before: tuple[str, ...] = ()
) -> dict[str, Feature]:
    """Features of each module when the model extracts features from two images.

    Parameters, buffers, training flags and random states are as before afterwards.

    Args:
        model: A model with ``extract_feat``, or any module called with the images.
        modules: Modules by name.
        inputs: Preprocessed images (N, C, H, W); the first two are used, one image counts twice.
        before: Names whose input is meant, not their output. They need not be part of the feature
            extraction: they are given what it returns.
    """
    images = inputs[:2] if inputs.shape[0] > 1 else torch.cat([inputs, inputs])
    outputs: dict[str, list[Any]] = {name: [] for name in modules}

    def note(name: str) -> Callable[..., None]:
        return lambda module, args, output: outputs[name].append(output)

    handles = [
        module.register_forward_hook(note(name))
        for name, module in modules.items()
        if name not in before
    ]
    try:
        devices = [images.device] if images.is_cuda else []
        with _eval_mode(model), torch.random.fork_rng(devices):
            result = _extract(model, images)
    finally:
        for handle in handles:
            handle.remove()
    for name in before:
        if name in outputs:
            outputs[name].append(result)
    return {name: _describe(calls, len(images)) for name, calls in outputs.items()}


def _extract(model: nn.Module, images: Tensor) -> Any:
    try:
        return getattr(model, 'extract_feat', model)(images)
    except NotImplementedError:
        # Wrappers of classifiers from other libraries only have the forward pass.
        return model(images)


def _describe(calls: list[Any], batch_size: int) -> Feature:
    if len(calls) != 1:
        return Feature(problem=f'it runs {len(calls)} times while the model extracts features')
    found = find_feature(calls[0], batch_size)
    if found is None:
        return Feature(problem='its output is not a single feature tensor with a batch axis')
    return Feature(shape=tuple(found[1].shape))


@contextmanager
def _eval_mode(model: nn.Module) -> Iterator[None]:
    # Flags are set one by one, and not at modules that override train(): these do more in it, such
    # as freezing stages or caching biases, which cannot be undone.
    flags = [
        (module, module.training)
        for module in model.modules()
        if type(module).train is nn.Module.train
    ]
    for module, _ in flags:
        module.training = False
    try:
        yield
    finally:
        for module, flag in flags:
            module.training = flag
