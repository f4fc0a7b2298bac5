"""What of the optimizer a resumed run takes from the checkpoint instead of the config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ['NEW_RUN', 'WAY_OUT', 'changed_kind', 'changed_settings', 'check_groups']

NEW_RUN = (
    'start a new run from the weights: another --work-dir, --cfg-options load_from=CHECKPOINT, '
    'no --resume'
)
WAY_OUT = f'go back to what it was, or {NEW_RUN}'

_DECOUPLED = 'decoupled_weight_decay'
# Switches of how the same is calculated, and one that tells of the class, see changed_kind.
_NO_SWITCHES = {'capturable', 'differentiable', 'foreach', 'fused', _DECOUPLED}
# What schedules put into the groups and look for there, unless the optimizer has it itself.
_SCHEDULED = {'momentum': 'a schedule of the momentum', 'max_lr': 'OneCycleLR'}

Groups = Sequence[Mapping[str, Any]]


def check_groups(stored: Groups, current: Groups, defaults: Mapping[str, Any]) -> None:
    """Check that the state of an optimizer belongs to one of the same kind, over as many weights.

    Args:
        stored: ``param_groups`` of the state in a checkpoint.
        current: Those of the optimizer that will get it.
        defaults: The settings that it has by itself; its groups may have others, such as the
            ``lr_mult`` of ``paramwise_cfg``, without which it can go on.

    Raises:
        ValueError: If PyTorch would refuse the state, or fail with it in the first step.
    """
    sizes = [[len(group.get('params', ())) for group in groups] for groups in (stored, current)]
    if sizes[0] != sizes[1]:
        counts = [f'{sum(n)} weights in {len(n)} group{"s" * (len(n) != 1)}' for n in sizes]
        raise ValueError(
            f'the optimizer in the checkpoint has {counts[0]} and that of the config has '
            f'{counts[1]} (optim_wrapper.paramwise_cfg, or another model); {WAY_OUT}.'
        )
    for old, new in zip(stored, current, strict=True):
        # Switches and what is not set have defaults, which newer versions of PyTorch fill in.
        missing = [
            name
            for name, value in new.items()
            if name not in old and name != 'params' and _is_number(value) and not _is_base(name)
        ]
        own = [name for name in missing if name in defaults]
        if own:
            raise ValueError(
                f'the checkpoint is of another optimizer, whose state has no {own[0]!r}, so '
                f'that training cannot go on with it (optim_wrapper.optimizer.type); {WAY_OUT}.'
            )
        for name, schedule in _SCHEDULED.items():
            if name in missing:
                raise ValueError(
                    f'param_scheduler has {schedule}, which the run that wrote the checkpoint had '
                    f'not, so that training cannot go on with it; {WAY_OUT}.'
                )


def changed_kind(noted: Any, kind: str, stored: Groups, current: Groups) -> str:
    """Say what the optimizer was, if its kind has changed; otherwise return an empty string.

    Args:
        noted: Name of its class in a checkpoint, which anybody may have written; None if unknown.
        kind: Name of its class now.
        stored: ``param_groups`` of the state in a checkpoint.
        current: Those of the optimizer that will get it.
    """
    if isinstance(noted, str) and noted != kind:
        return noted
    for old, new in zip(stored, current, strict=True):
        # All that tells AdamW from Adam.
        now = new.get(_DECOUPLED)
        if old.get(_DECOUPLED, now) != now:
            return f'one with {_DECOUPLED}={old[_DECOUPLED]}'
    return ''


def changed_settings(
    stored: Groups, current: Groups, defaults: Mapping[str, Any] | None = None
) -> list[str]:
    """List settings that differ, of which PyTorch takes those in the checkpoint.

    Rates under a schedule are compared by what it started from.

    Args:
        stored: ``param_groups`` of the state in a checkpoint.
        current: Those of the optimizer that will get it.
        defaults: What the config says for groups without multipliers of their own.

    Returns:
        For each setting a text such as ``'lr 0.1 (checkpoint 0.05)'``. Where groups of weights
        differ in it, of one without a multiplier, else of the one with the largest value.
    """
    found: dict[str, list[tuple[Any, Any]]] = {}
    for old, new in zip(stored, current, strict=True):
        for name in new:
            if name not in old or name == 'params' or _is_base(name):
                continue
            if name == 'momentum' and 'betas' in new:  # a copy, see _base
                continue
            before, now = _base(old, name), _base(new, name)
            comparable = _is_setting(name, before) and _is_setting(name, now)
            if comparable and _plain(before) != _plain(now):
                found.setdefault(name, []).append((_plain(now), _plain(before)))
    return [
        _change(name, pairs, len(current), (defaults or {}).get(name))
        for name, pairs in found.items()
    ]


def _change(name: str, pairs: Sequence[tuple[Any, Any]], groups: int, default: Any) -> str:
    """Show the values that a user knows, now and in the checkpoint, out of those of all groups."""
    known = _is_setting(name, default)
    written = [pair for pair in pairs if known and pair[0] == _plain(default)]
    now, before = written[0] if written else max(pairs)
    alike = len(pairs) == groups and len(set(pairs)) == 1
    where = '' if written or alike else ' in a group of weights'
    return f'{name} {now} (checkpoint {before}){where}'


def _base(group: Mapping[str, Any], name: str) -> Any:
    if name == 'betas' and 'initial_momentum' in group:
        # MMEngine's momentum schedules move the first one and keep its start by this name.
        return (group['initial_momentum'], *group['betas'][1:])
    return group.get(f'initial_{name}', group[name])


def _is_base(name: str) -> bool:
    return name.startswith('initial_')


def _is_setting(name: str, value: Any) -> bool:
    return name not in _NO_SWITCHES if isinstance(value, bool) else _is_number(value)


def _is_number(value: Any) -> bool:
    """Tell numbers, and pairs such as betas, from switches and names."""
    if isinstance(value, list | tuple):
        return all(map(_is_number, value))
    return not isinstance(value, bool | str | None) and hasattr(value, '__float__')


def _plain(value: Any) -> Any:
    """Make lists and one-number tensors comparable."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Iterable) and not hasattr(value, '__float__'):
        return tuple(map(_plain, value))
    return round(float(value), 12)
