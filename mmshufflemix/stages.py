"""Where the backbones of MMPretrain and timm keep their stages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch import nn

__all__ = ['stage_units']

# Attributes that hold the stages or blocks, as modules or as names of modules.
_ATTRIBUTES = (
    'res_layers',
    'stages',
    'layers',
    'blocks',
    'encoder',
    'network',
    'xca_layers',
    'features',
)
_NUMBERED_CHILD = re.compile(r'(layer|stage|blocks?)_?\d+')


def stage_units(backbone: nn.Module) -> list[nn.Module]:
    """The units of a backbone that follow each other, in order; empty if none are found.

    Args:
        backbone: Any module; lists of stages or blocks are looked for under their usual names, then
            children called layer1, stage1, blocks1 and so on. Of a list of blocks, which is not
            called itself, the last block is the unit.
    """
    for attribute in _ATTRIBUTES:
        units = _as_modules(backbone, getattr(backbone, attribute, None))
        if len(units) > 1:
            break
    else:
        units = [
            child for name, child in backbone.named_children() if _NUMBERED_CHILD.fullmatch(name)
        ]
    return [unit[-1] if isinstance(unit, nn.ModuleList) else unit for unit in units]


def _as_modules(backbone: nn.Module, value: object) -> list[nn.Module]:
    if isinstance(value, nn.ModuleList | nn.Sequential):
        return list(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        modules = [
            getattr(backbone, item, None) if isinstance(item, str) else item for item in value
        ]
        return [module for module in modules if isinstance(module, nn.Module)]
    return []
