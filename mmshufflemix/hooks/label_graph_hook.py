"""Give ML-GCN its label graph, from a file or from the training set."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from mmengine import dist
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS
from torch import nn

from mmshufflemix.checkpoint_content import checkpoint_classes
from mmshufflemix.label_graph.adjacency import label_adjacency
from mmshufflemix.label_graph.build import (
    check_same_classes,
    ensure_label_graph,
    graph_classes,
    label_lists,
)
from mmshufflemix.label_graph.file import LabelGraph
from mmshufflemix.label_graph.statistics import count_labels
from mmshufflemix.models.mlgcn_head import MLGCNHead

__all__ = ['LabelGraphHook']


@HOOKS.register_module()
class LabelGraphHook(Hook):
    """Fill ``MLGCNHead`` with its label graph before training and check the class names.

    If the head's file does not exist, rank 0 builds it from the training set and says so; all ranks
    get rank 0's graph, so they need no common disk and do not race. A head that got its graph from
    a checkpoint of the same classes (resuming, testing, fine-tuning) keeps that one. Class names
    and their order must be those of the training and validation sets; in testing they are compared
    if the graph comes from the file.

    Args:
        embeddings: File of word vectors for a graph that is built; see ``build_label_graph``.
        method: Class vectors without such a file, ``'ppmi'`` or ``'random'``.
        seed: Seed of the draws.

    Raises:
        ValueError: If the model has no ``MLGCNHead``, class names differ, or the graph cannot be
            read or built.
    """

    priority = 'HIGH'

    def __init__(self, embeddings: str | None = None, method: str = 'ppmi', seed: int = 0) -> None:
        self._options = {'embeddings': embeddings, 'method': method, 'seed': seed}
        self._loaded_classes: tuple[str, ...] = ()

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        """Note the class names that a checkpoint, and the graph in it, belong to."""
        self._loaded_classes = tuple(checkpoint_classes(checkpoint) or ())

    def before_train(self, runner: Runner) -> None:
        """Fill the head, unless a checkpoint of the same classes did."""
        head = _find_head(runner.model)
        dataset = runner.train_dataloader.dataset
        classes = graph_classes(dataset)
        ready = head.has_graph and self._loaded_classes in ((), classes)
        path = head.label_graph_file
        graph = _on_main_process(
            lambda: self._graph_for(path, ready, head.embed_dim, dataset, runner)
        )
        name = f'the label graph {path}'
        if graph is not None:
            check_same_classes(graph.classes, classes, name, 'the training set')
            if not ready:
                head.set_label_graph(graph, name)
            elif not _holds(head, graph):
                runner.logger.warning(
                    f'The label graph in the loaded checkpoint is used; it differs from {path} '
                    f'with threshold={head.threshold} and reweight={head.reweight}.'
                )
        _check_classes(head, dataset, 'the training set')
        head.classes = classes

    def before_val(self, runner: Runner) -> None:
        """Check the class names of the validation set."""
        _check_classes(
            _find_head(runner.model), runner.val_dataloader.dataset, 'the validation set'
        )

    def before_test(self, runner: Runner) -> None:
        """Check the class names of the test set."""
        _check_classes(_find_head(runner.model), runner.test_dataloader.dataset, 'the test set')

    def _graph_for(
        self, path: str | None, ready: bool, dim: int, dataset: Any, runner: Runner
    ) -> LabelGraph | None:
        if path is None or (ready and not os.path.exists(path)):
            return None
        graph, built = ensure_label_graph(path, dataset, dim=dim, **self._options)
        if built:
            runner.logger.info(
                f'The label graph {path} did not exist and was built from the '
                f'{len(dataset)} images of the training set; class vectors: {graph.source}.'
            )
            return graph
        runner.logger.info(f'Label graph {path}; class vectors: {graph.source}.')
        classes = graph_classes(dataset)
        check_same_classes(graph.classes, classes, f'the label graph {path}', 'the training set')
        counts, _ = count_labels(label_lists(dataset), len(classes))
        different = np.flatnonzero(counts != graph.counts)
        if different.size:
            first = different[0]
            runner.logger.warning(
                f'The label graph {path} was made from other labels than this training set: '
                f'{classes[first]} {graph.counts[first]} times there, {counts[first]} here, and '
                f'{different.size} classes differ. Delete the file to have it built anew.'
            )
        return graph


def _find_head(model: nn.Module) -> MLGCNHead:
    for module in model.modules():
        if isinstance(module, MLGCNHead):
            return module
    raise ValueError(
        f'LabelGraphHook found no MLGCNHead in the {type(model).__name__}; take the hook out of '
        'custom_hooks, or set the head of the model to MLGCNHead'
    )


def _check_classes(head: MLGCNHead, dataset: Any, dataset_name: str) -> None:
    if head.classes is not None:
        check_same_classes(
            head.classes, graph_classes(dataset), 'the label graph of the head', dataset_name
        )


def _holds(head: MLGCNHead, graph: LabelGraph) -> bool:
    adjacency = label_adjacency(graph.counts, graph.cooccurrence, head.threshold, head.reweight)
    pairs = ((head.adjacency, adjacency), (head.embeddings, graph.embeddings))
    return all(
        ours.shape == theirs.shape and np.allclose(ours.float().cpu(), theirs, atol=1e-6)
        for ours, theirs in pairs
    )


def _on_main_process(function: Callable[[], Any]) -> Any:
    """Call on rank 0 and hand the result, or the error, to every rank."""
    outcome: list[Any] = [None, None]
    if dist.is_main_process():
        try:
            outcome[0] = function()
        except (OSError, ValueError) as error:
            outcome[1] = error
    dist.broadcast_object_list(outcome)
    if outcome[1] is not None:
        raise outcome[1]
    return outcome[0]
