"""A label graph in words."""

from __future__ import annotations

from mmshufflemix.label_graph.adjacency import binarise, conditional_probability
from mmshufflemix.label_graph.file import LabelGraph
from mmshufflemix.text import printable

__all__ = ['describe_label_graph']


def describe_label_graph(graph: LabelGraph, threshold: float = 0.4) -> str:
    """List the classes with their images and links, the edges, and where the vectors come from.

    Raises:
        ValueError: If the threshold is not positive.
    """
    probability = conditional_probability(graph.counts, graph.cooccurrence)
    edges = binarise(probability, threshold) > 0
    names = [printable(name) for name in graph.classes]
    width = max(5, *map(len, names))
    lines = [f'{"class":<{width}}  images  linked to (P at least {threshold:g})']
    for index, name in enumerate(names):
        links = ', '.join(
            f'{names[other]} {probability[index, other]:.2f}' for other in edges[index].nonzero()[0]
        )
        lines.append(f'{name:<{width}}  {int(graph.counts[index]):>6}  {links}'.rstrip())
    lines.append(f'{edges.sum()} edges among {len(graph.classes)} classes')
    unseen = [name for name, count in zip(names, graph.counts, strict=True) if not count]
    if unseen:
        lines.append(f'never seen: {", ".join(unseen)}')
    lines.append(f'class vectors: {printable(graph.source)}')
    return '\n'.join(lines)
