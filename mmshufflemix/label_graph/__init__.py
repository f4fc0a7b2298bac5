"""Label graphs: how often the classes of a data set occur, alone and together."""

from mmshufflemix.label_graph.adjacency import (
    binarise,
    conditional_probability,
    label_adjacency,
    normalise,
    reweight_columns,
)
from mmshufflemix.label_graph.build import (
    build_label_graph,
    check_same_classes,
    ensure_label_graph,
    label_lists,
)
from mmshufflemix.label_graph.describe import describe_label_graph
from mmshufflemix.label_graph.embeddings import ppmi_vectors, random_vectors
from mmshufflemix.label_graph.file import (
    LabelGraph,
    load_label_graph,
    make_label_graph,
    save_label_graph,
)
from mmshufflemix.label_graph.plot import draw_label_graph
from mmshufflemix.label_graph.statistics import count_labels
from mmshufflemix.label_graph.word_vectors import name_vectors, read_word_vectors, words_of

__all__ = [
    'LabelGraph',
    'binarise',
    'build_label_graph',
    'check_same_classes',
    'conditional_probability',
    'count_labels',
    'describe_label_graph',
    'draw_label_graph',
    'ensure_label_graph',
    'label_adjacency',
    'label_lists',
    'load_label_graph',
    'make_label_graph',
    'name_vectors',
    'normalise',
    'ppmi_vectors',
    'random_vectors',
    'read_word_vectors',
    'reweight_columns',
    'save_label_graph',
    'words_of',
]
