"""Record a network as an ONNX graph and look through its operators."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from mmshufflemix.text import some

__all__ = ['check_not_random', 'export_graph', 'operators']

_RANDOM = (
    'Bernoulli',
    'Multinomial',
    'RandomNormal',
    'RandomNormalLike',
    'RandomUniform',
    'RandomUniformLike',
)


def export_graph(network: nn.Module, size: tuple[int, int]) -> Any:
    """Record a network, with any number of pictures in a batch.

    Args:
        network: Takes pictures (N, 3, H, W) and returns scores (N, K).
        size: H and W, which the graph keeps.

    Returns:
        An ``onnx.ModelProto`` with the input ``images`` and the output ``scores``.

    Raises:
        ValueError: If PyTorch cannot record the network.
    """
    example = torch.full((2, 3, *size), 128.0, device=next(network.buffers()).device)
    logging.getLogger('torch.onnx').setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter('ignore')
            program: Any = torch.onnx.export(
                network,
                (example,),
                dynamo=True,
                input_names=['images'],
                output_names=['scores'],
                dynamic_shapes=({0: torch.export.Dim('batch')},),
                verbose=False,
            )
    except Exception as error:  # whatever the network contains can fail in its own way
        reason = (str(error).strip().splitlines() or [''])[0]
        raise ValueError(
            f'PyTorch cannot export this network to ONNX ({type(error).__name__}: {reason}).'
        ) from error
    proto = program.model_proto
    # Notes on where a node comes from name files of this machine.
    for holder in (proto.graph, *proto.graph.node, *proto.graph.value_info):
        del holder.metadata_props[:]
    for node in proto.graph.node:
        node.doc_string = ''
    return proto


def operators(proto: Any) -> list[str]:
    """Names of the operators of a graph, those of functions and branches included, sorted."""
    return sorted({node.op_type for node in _nodes(proto)})


def check_not_random(proto: Any) -> None:
    """Check that a graph gives the same scores every time.

    Raises:
        ValueError: If an operator draws random numbers, as dropout in training mode does.
    """
    found = {node.op_type for node in _nodes(proto) if node.op_type in _RANDOM}
    # Its third input switches dropout on.
    found |= {
        'Dropout' for node in _nodes(proto) if node.op_type == 'Dropout' and any(node.input[2:])
    }
    if found:
        raise ValueError(
            f'the network draws random numbers when it predicts ({some(sorted(found))}), so its '
            'scores would differ from call to call; take the random layer out of the model.'
        )


def _nodes(proto: Any) -> Iterator[Any]:
    pending = [*proto.graph.node, *(node for part in proto.functions for node in part.node)]
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attribute:
            for branch in (attribute.g, *attribute.graphs):
                pending.extend(branch.node)
