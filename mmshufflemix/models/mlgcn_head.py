"""The head of ML-GCN: classifiers made from a label graph."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from mmpretrain.models.heads import MultiLabelClsHead, MultiLabelLinearClsHead
from mmpretrain.registry import MODELS
from torch import Tensor
from torch.nn import functional as F

from mmshufflemix.label_graph.adjacency import label_adjacency
from mmshufflemix.label_graph.file import LabelGraph, load_label_graph, make_label_graph
from mmshufflemix.models.graph_convolution import GraphConvolution

__all__ = ['MLGCNHead']


@MODELS.register_module()
class MLGCNHead(MultiLabelClsHead):
    """Multi-label head whose classifiers come out of two graph convolutions over the labels.

    ML-GCN (Chen et al., CVPR 2019): class vectors (K, D) go through a graph convolution to
    ``hidden_channels``, LeakyReLU with slope 0.2, and a second one to ``in_channels``; the score of
    a class is the product of the pooled image feature with its classifier. Graph and class vectors
    are buffers: constants without gradient, saved with the weights, so a checkpoint is complete.

    If the file ``label_graph`` does not exist, the head waits for its graph: ``LabelGraphHook``
    builds it before training, and a checkpoint brings it for testing. The attribute ``classes``
    holds the class names of the graph, or None while they are not known.

    Args:
        num_classes: K.
        in_channels: Channels C of the pooled feature.
        label_graph: ``.npz`` file of a label graph, a ``LabelGraph``, or a dict of its arrays.
        threshold: Least conditional probability of an edge; above 1 leaves the identity.
        reweight: Total weight of a class's neighbours beside its own weight 1.
        hidden_channels: Channels between the two graph convolutions.
        embed_dim: Length D of the class vectors.
        loss: Config of the loss on the scores.
        thr: Scores of at least this are positive predictions; 0.5 if neither is set.
        topk: Number of highest scores that are positive predictions, used without ``thr``.
        init_cfg: Initialisation in MMEngine's form; default is that of ML-GCN.

    Raises:
        TypeError: If ``label_graph`` is of another type.
        ValueError: If the graph does not fit the other arguments, or is malformed.
    """

    def __init__(
        self,
        num_classes: int,
        in_channels: int,
        label_graph: str | os.PathLike | LabelGraph | Mapping[str, Any],
        threshold: float = 0.4,
        reweight: float = 0.25,
        hidden_channels: int = 1024,
        embed_dim: int = 300,
        loss: dict | None = None,
        thr: float | None = None,
        topk: int | None = None,
        init_cfg: dict | None = None,
    ) -> None:
        loss = loss or {'type': 'CrossEntropyLoss', 'use_sigmoid': True}
        super().__init__(loss=loss, thr=thr, topk=topk, init_cfg=init_cfg)
        self.num_classes = num_classes
        self.in_channels = in_channels
        self.threshold = threshold
        self.reweight = reweight
        self.embed_dim = embed_dim
        self.classes: tuple[str, ...] | None = None
        self.label_graph_file: str | None = None
        self.has_graph = False
        self.adjacency: Tensor
        self.embeddings: Tensor
        self._folded: Tensor | None = None
        self._folded_from: list[int] = []
        self.gcn1 = GraphConvolution(embed_dim, hidden_channels)
        self.gcn2 = GraphConvolution(hidden_channels, in_channels)
        self.register_buffer('adjacency', torch.zeros(num_classes, num_classes))
        self.register_buffer('embeddings', torch.zeros(num_classes, embed_dim))
        self._take(label_graph)

    def set_label_graph(self, graph: LabelGraph, name: str = 'the label graph') -> None:
        """Fill the buffers from a label graph.

        Args:
            graph: A label graph with K classes and class vectors of length ``embed_dim``.
            name: What error messages call it.

        Raises:
            ValueError: If the graph has other sizes.
        """
        if len(graph.classes) != self.num_classes:
            raise ValueError(
                f'{name} has {len(graph.classes)} classes but the head has num_classes='
                f'{self.num_classes}; give label_graph a new path, which is then built from the '
                f'training set, or set num_classes'
            )
        if graph.embeddings.shape[1] != self.embed_dim:
            raise ValueError(
                f'{name} has class vectors of length {graph.embeddings.shape[1]} but the head '
                f'has embed_dim={self.embed_dim}; set embed_dim={graph.embeddings.shape[1]}, or '
                'give label_graph a new path'
            )
        adjacency = label_adjacency(graph.counts, graph.cooccurrence, self.threshold, self.reweight)
        self.adjacency.copy_(torch.from_numpy(adjacency))
        self.embeddings.copy_(torch.from_numpy(graph.embeddings))
        self.classes = graph.classes
        self.has_graph = True
        self._folded = None

    def forward(self, feats: Tensor | Sequence[Tensor]) -> Tensor:
        """Score the last of the features.

        Args:
            feats: Pooled features (N, C), or a tuple of which the last is used.

        Returns:
            Scores (N, K) before the sigmoid.

        Raises:
            ValueError: If the feature is not of shape (N, C).
            RuntimeError: If the head has no label graph yet.
        """
        feature = feats if isinstance(feats, Tensor) else self.pre_logits(feats)
        if feature.ndim != 2 or feature.shape[1] != self.in_channels:
            raise ValueError(
                f'MLGCNHead takes pooled features (N, {self.in_channels}), got the shape '
                f"{tuple(feature.shape)}; set neck=dict(type='GlobalMaxPooling') in the model and "
                "in_channels of the head to the backbone's last channels"
            )
        return F.linear(feature, self.classifiers())

    def classifiers(self) -> Tensor:
        """The classifiers of all classes (K, C).

        Without gradients in eval mode they are computed once and kept until the head is trained,
        moved, loaded again, or one of its tensors is changed in place.

        Raises:
            RuntimeError: If the head has no label graph yet.
        """
        if not self.has_graph:
            raise RuntimeError(
                f'MLGCNHead has no label graph, since {self.label_graph_file} does not exist: to '
                "train, add dict(type='LabelGraphHook') to custom_hooks or make the file with "
                'tools/label_graph.py; to test, load a checkpoint'
            )
        if self.training or torch.is_grad_enabled():
            self._folded = None
            return self._label_branch()
        sources = (self.gcn1.weight, self.gcn2.weight, self.adjacency, self.embeddings)
        # Changes are counted neither in compiled code nor for tensors made in inference mode.
        recorded = torch.compiler.is_compiling() or torch.jit.is_tracing()
        if recorded or any(source.is_inference() for source in sources):
            return self._label_branch()
        versions = [source._version for source in sources]
        if self._folded is None or self._folded_from != versions:
            self._folded, self._folded_from = self._label_branch(), versions
        return self._folded

    @torch.no_grad()
    def fold(self) -> MultiLabelLinearClsHead:
        """A plain linear head with the same scores, for export.

        Raises:
            RuntimeError: If the head has no label graph yet.
        """
        weight = self._label_branch() if self.has_graph else self.classifiers()
        head = MultiLabelLinearClsHead(
            self.num_classes, self.in_channels, loss=self.loss_module, thr=self.thr, topk=self.topk
        )
        head.to(weight)
        head.fc.weight.copy_(weight)
        head.fc.bias.zero_()
        return head.train(self.training)

    def train(self, mode: bool = True) -> MLGCNHead:
        """Switch between training and eval mode."""
        self._folded = None
        return super().train(mode)

    def _label_branch(self) -> Tensor:
        # Full precision whatever autocast says: it costs little, and the kept result must not
        # depend on where it was first needed.
        with torch.autocast(self.embeddings.device.type, enabled=False):
            hidden = F.leaky_relu(self.gcn1(self.embeddings, self.adjacency), 0.2)
            return self.gcn2(hidden, self.adjacency)

    def _take(self, source: str | os.PathLike | LabelGraph | Mapping[str, Any]) -> None:
        if isinstance(source, LabelGraph):
            self.set_label_graph(source)
        elif isinstance(source, Mapping):
            self.set_label_graph(make_label_graph(source))
        elif isinstance(source, str | os.PathLike):
            self.label_graph_file = os.fspath(source)
            if os.path.exists(source):
                self.set_label_graph(load_label_graph(source), self.label_graph_file)
        else:
            raise TypeError(
                'label_graph of MLGCNHead must be the path of an .npz file, a LabelGraph or a dict '
                f'of its arrays, got {source!r}'
            )

    def _apply(self, *args: Any, **kwargs: Any) -> MLGCNHead:
        self._folded = None
        return super()._apply(*args, **kwargs)

    def _load_from_state_dict(self, state_dict: Mapping, prefix: str, *args: Any) -> None:
        super()._load_from_state_dict(state_dict, prefix, *args)
        self._folded = None
        # A placeholder is zero, a graph never is.
        self.has_graph = bool(self.adjacency.any())
        if f'{prefix}adjacency' in state_dict:
            self.classes = None
