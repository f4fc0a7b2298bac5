"""Faults, one a picture or class, and the findings that they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mmshufflemix.text import printable, shorten, some

__all__ = ['KINDS', 'Fault', 'Finding', 'gather']

KINDS: dict[str, tuple[str, str]] = {
    # What the files say.
    'unreadable-split': ('error', 'splits that cannot be read'),
    'bad-row': ('error', 'rows that are malformed'),
    'bad-annotation': ('error', 'annotation files that are missing or malformed'),
    'bad-classes': ('error', 'class lists that are malformed'),
    'different-classes': ('error', 'class lists that differ from the first split'),
    'bad-labels': ('error', 'rows whose labels are not a list of class ids or of names'),
    'one-hot': ('error', 'rows that look one-hot and would be read as class ids'),
    'unknown-label': ('error', 'labels that are not in the classes'),
    'out-of-range': ('error', 'class ids out of range'),
    'repeated-id': ('error', 'rows that repeat a class id'),
    'repeated-name': ('warning', 'rows that repeat a class name'),
    'outside': ('error', 'names that lead out of the image folder'),
    'unlisted': ('warning', 'pictures in the image folder that no split lists'),
    'unnamed-classes': ('warning', 'splits without class names'),
    # What the labels add up to.
    'empty-split': ('error', 'splits without rows'),
    'no-label': ('warning', 'pictures without labels'),
    'no-positives': ('warning', 'classes that never occur'),
    'few-positives': ('warning', 'classes with few pictures'),
    'no-negatives': ('warning', 'classes that every picture has'),
    'always-together': ('warning', 'pairs of classes that only occur together'),
    # The picture files.
    'missing': ('error', 'pictures that do not exist'),
    'skipped': ('warning', 'pictures that do not exist and are skipped as the config says'),
    'unreadable': ('error', 'pictures that cannot be decoded'),
    'tiny': ('warning', 'tiny pictures'),
    'huge': ('warning', 'huge pictures'),
    'long': ('warning', 'pictures with an extreme aspect ratio'),
    'flat': ('warning', 'pictures of one colour'),
    'grey': ('warning', 'grey pictures'),
    'cmyk': ('warning', 'CMYK pictures'),
    'alpha': ('warning', 'pictures with transparency'),
    'deep': ('warning', 'pictures of more than 8 bits a channel'),
    'rotated': ('warning', 'pictures that EXIF turns or mirrors'),
    'animated': ('warning', 'pictures of several frames or pages, of which one is used'),
    # The same picture twice.
    'leak': ('error', 'pictures of the training split that another split has too'),
    'contradiction': ('error', 'pictures that occur again with other labels'),
    'shared': ('warning', 'pictures that two splits share'),
    'repeated-row': ('warning', 'pictures that are listed again with the same labels'),
    'duplicate': ('warning', 'pictures of the same content and labels as another'),
    'near-leak': ('warning', 'pictures that look like one of another split'),
    'near-duplicate': ('warning', 'pictures that look like another of their split'),
}
"""Severity and wording of each kind of fault, in the order in which findings are listed."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        kind: One of ``KINDS``.
        split: The split or splits it is in.
        item: The picture, row or class, and what is the matter with it.
    """

    kind: str
    split: str
    item: str


@dataclass(frozen=True)
class Finding:
    """All faults of one kind in one split.

    Attributes:
        severity: ``'error'`` or ``'warning'``.
        kind: One of ``KINDS``.
        split: The split or splits.
        text: What the items have in common.
        items: All of them, in the order of the data.
    """

    severity: str
    kind: str
    split: str
    text: str
    items: tuple[str, ...]

    def line(self, limit: int = 3) -> str:
        """Say it in one line, with the count and the first items."""
        return (
            f'{self.severity:<7}  {self.split}: {self.text} ({len(self.items)}): '
            f'{some((shorten(item, 160) for item in self.items), limit)}'
        )


def gather(faults: Iterable[Fault]) -> list[Finding]:
    """Group faults by kind and split: errors first, kinds in the order of ``KINDS``."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        groups.setdefault((fault.kind, fault.split), []).append(printable(fault.item))
    findings = [
        Finding(KINDS[kind][0], kind, printable(split), KINDS[kind][1], tuple(items))
        for (kind, split), items in groups.items()
    ]
    order = list(KINDS)
    return sorted(findings, key=lambda found: (found.severity, order.index(found.kind)))
