"""Mend a distribution over parts by moving one bundle of images at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

__all__ = ['Layout', 'fill_sizes', 'spread_classes']


@dataclass
class Layout:
    """U bundles in P parts, while they are being moved.

    Attributes:
        parts: Part of each bundle, shape (U,).
        sizes: Images in each bundle, shape (U,).
        counts: Images of each class in each bundle, shape (U, K).
        wanted: Images wanted in each part, shape (P,).
        ranked: Whether classes with few bundles belong to the first parts, or to any different
            ones.
        carriers: Bundles of each class in each part, shape (P, K).
        totals: Images of each class in each part, shape (P, K).
        needed: Whether a class should be in a part, shape (P, K).
    """

    parts: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    wanted: np.ndarray
    ranked: bool
    carriers: np.ndarray = field(init=False)
    totals: np.ndarray = field(init=False)
    needed: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        shape = (len(self.wanted), self.counts.shape[1])
        self.carriers, self.totals = np.zeros(shape, int), np.zeros(shape, int)
        np.add.at(self.carriers, self.parts, self.counts > 0)
        np.add.at(self.totals, self.parts, self.counts)
        available = self.carriers.sum(0)
        rank = np.broadcast_to(np.arange(shape[0])[:, None], shape)
        if not self.ranked:
            # Parts that have a class come first, so that it is not moved without need.
            rank = np.argsort(np.argsort(-self.carriers, axis=0, kind='stable'), axis=0)
        self.needed = rank < available

    def missing(self) -> np.ndarray:
        """Booleans (P, K): classes that a part needs and lacks."""
        return self.needed & (self.carriers == 0)

    def excess(self) -> np.ndarray:
        """Images that each part has too many, shape (P,)."""
        return np.bincount(self.parts, self.sizes, len(self.wanted)).astype(int) - self.wanted

    def move(self, unit: int, target: int) -> None:
        """Put a bundle into another part."""
        for part, sign in ((self.parts[unit], -1), (target, 1)):
            self.carriers[part] += sign * (self.counts[unit] > 0)
            self.totals[part] += sign * self.counts[unit]
        self.parts[unit] = target

    def losses(self, units: np.ndarray) -> np.ndarray:
        """Number of needed classes that the part of each of some bundles would lose with it."""
        source = self.parts[units]
        last = self.needed[source] & (self.carriers[source] == 1)
        return (last & (self.counts[units] > 0)).sum(1)

    def unevenness(self, units: np.ndarray, target: int) -> np.ndarray:
        """How much moves to a part increase the squared errors of class counts, each by its size.

        With n the counts of a bundle and d the deviations of a part from its share, moving the
        bundle changes the sum of d^2 by 2n(n + d_target - d_source).
        """
        total = self.totals.sum(0)
        deviation = self.totals - np.outer(self.wanted / self.wanted.sum(), total)
        counts = self.counts[units]
        gap = deviation[target] - deviation[self.parts[units]]
        return (2 * counts * (counts + gap) / np.maximum(total, 1)).sum(1)


def spread_classes(layout: Layout) -> None:
    """Move bundles until each part has the classes it needs, where single moves can do that.

    Every move lowers the number of missing pairs of part and class. Of the bundles that lower it
    most, the one is taken that keeps sizes and class shares best.
    """
    units = np.arange(len(layout.parts))
    while True:
        best: tuple[float, ...] | None = None
        choice = (0, 0)
        missing, excess = layout.missing(), layout.excess()
        losses = layout.losses(units)
        for target in np.flatnonzero(missing.any(1)):
            gains = ((layout.counts > 0) & missing[target]).sum(1)
            useful = units[(gains > losses) & (layout.parts != target)]
            if not len(useful):
                continue
            net = (losses - gains)[useful]
            after = np.abs(excess[target] + layout.sizes[useful])
            uneven = layout.unevenness(useful, int(target))
            at = np.lexsort((uneven, after, net))[0]
            key = (float(net[at]), float(after[at]), float(uneven[at]))
            if best is None or key < best:
                best, choice = key, (int(useful[at]), int(target))
        if best is None:
            return
        layout.move(*choice)


def fill_sizes(layout: Layout) -> None:
    """Move bundles from parts with too many images to those with too few, where that helps.

    Every move lowers the sum of the squared errors of the sizes and takes no needed class away.
    It is made between the two parts that differ most, with the bundle that fits them best and,
    of those, keeps class shares best.
    """
    move = _filling_move(layout)
    while move is not None:
        layout.move(*move)
        move = _filling_move(layout)


def _filling_move(layout: Layout) -> tuple[int, int] | None:
    excess = layout.excess()
    pairs = [(s, t) for s in range(len(excess)) for t in range(len(excess)) if s != t]
    for source, target in sorted(pairs, key=lambda pair: excess[pair[1]] - excess[pair[0]]):
        gap = excess[source] - excess[target]
        if gap < 2:
            return None
        units = np.flatnonzero((layout.parts == source) & (layout.sizes < gap))
        units = units[layout.losses(units) == 0]
        if len(units):
            misfit = np.abs(2 * layout.sizes[units] - gap)
            at = np.lexsort((layout.unevenness(units, target), misfit))
            return int(units[at[0]]), target
    return None
