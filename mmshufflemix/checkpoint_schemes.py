"""Make MMEngine read every checkpoint, local or from the network, through the safe loader."""

from __future__ import annotations

import urllib.error
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import torch
from mmengine import dist
from mmengine.runner.checkpoint import (
    CheckpointLoader,
    get_external_models,
    get_torchvision_models,
)
from PIL import EpsImagePlugin

from mmshufflemix.checkpoint import load_checkpoint_file
from mmshufflemix.checkpoint_content import check_weights

__all__ = ['use_safe_loading']


def use_safe_loading() -> None:
    """Replace MMEngine's checkpoint loaders in this process by ones that never run code.

    Covers local files, http(s) addresses, ``torchvision://`` and ``openmmlab://`` names; the
    remaining schemes (object stores) are refused with one sentence. A PostScript program that is
    named as a picture is not run either.
    """
    # Pillow opens it by starting Ghostscript, whatever the ending of the file.
    EpsImagePlugin.gs_binary = False
    loaders = {
        load_from_local: [''],
        load_from_http: ['http://', 'https://'],
        load_from_torchvision: ['modelzoo://', 'torchvision://'],
        load_from_openmmlab: ['open-mmlab://', 'openmmlab://'],
        load_from_refused: ['mmcls://', 'pavi://', r'(\S+\:)?s3://', r'(\S+\:)?petrel://'],
    }
    for loader, prefixes in loaders.items():
        CheckpointLoader.register_scheme(prefixes, loader, force=True)


def load_from_local(filename: str, map_location: Any = 'cpu') -> Any:
    """Read a local file.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is damaged, asks for anything but data, or has no tensors for weights.
    """
    checkpoint = load_checkpoint_file(filename, map_location)
    check_weights(checkpoint)
    return checkpoint


def load_from_http(filename: str, map_location: Any = 'cpu') -> Any:
    """Download a file once per machine into PyTorch's cache, then read it.

    Raises:
        ConnectionError: On every process, if one of them could not download it.
    """
    path = Path(torch.hub.get_dir()) / 'checkpoints' / Path(urlparse(filename).path).name
    failure = None
    if dist.get_local_rank() == 0 and not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            torch.hub.download_url_to_file(filename, str(path), progress=False)
        except (urllib.error.URLError, OSError) as error:
            failure = str(getattr(error, 'reason', error))
    # Every process hears of a failure, so that none waits for a file that will never come.
    failures = [reason for reason in dist.all_gather_object(failure) if reason]
    if failures:
        raise ConnectionError(
            f"'{filename}' could not be downloaded ({failures[0]}); download it by hand into "
            f"'{path.parent}', or give the path of a local file in place of the address, such as "
            "'model.backbone.init_cfg.checkpoint=/path/file.pth' ('model.backbone.init_cfg=None' "
            "if 'load_from=/path/file.pth' brings the whole model)."
        )
    return load_from_local(str(path), map_location)


def load_from_torchvision(filename: str, map_location: Any = 'cpu') -> Any:
    """Read weights named as ``torchvision://resnet18``."""
    return _load_named(filename, get_torchvision_models(), map_location)


def load_from_openmmlab(filename: str, map_location: Any = 'cpu') -> Any:
    """Read weights named as ``openmmlab://name``."""
    return _load_named(filename, get_external_models(), map_location)


def load_from_refused(filename: str, map_location: Any = None) -> Any:
    """Refuse a scheme that has no safe loader."""
    raise ValueError(
        f"checkpoint '{filename}' is in a store that is not supported; download it and give the "
        'path of the local file.'
    )


def _load_named(filename: str, addresses: dict[str, str], map_location: Any) -> Any:
    name = filename.split('://', 1)[1]
    if name not in addresses:
        raise ValueError(f"'{filename}' names no known weights; give a local file or an address.")
    return load_from_http(addresses[name], map_location)
