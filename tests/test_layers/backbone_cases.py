"""Every backbone of MMPretrain, as small as its constructor allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

GAP = dict(type='GlobalAveragePooling')
NUM_CLASSES = 5
_CLS = dict(type='ClsHead')


@dataclass(frozen=True)
class Case:
    """One backbone in a classifier.

    Attributes:
        args: Constructor arguments of the backbone.
        out: Channels that the head gets.
        auto: Name and channels of each stage that layers='auto' finds; empty if it refuses.
        axis: Axis of the channels at the stages, one for all or one each.
        named: Layers to name where 'auto' refuses.
        channel_axis: To be set where 'auto' refuses for want of it.
    """

    args: dict[str, Any]
    out: int | list[int]
    auto: dict[str, int] = field(default_factory=dict)
    axis: int | tuple[int, ...] = 1
    size: int = 64
    in_channels: int = 3
    neck: Any = None
    head: dict[str, Any] = field(default_factory=lambda: dict(type='LinearClsHead'))
    named: tuple[int | str, ...] = ()
    channel_axis: int | None = None


def _stages(prefix: str, *channels: int, first: int = 0) -> dict[str, int]:
    return {f'{prefix}{k}': c for k, c in enumerate(channels, first)}


def _resnet(*channels: int, depth: int = 18, **kwargs: Any) -> Case:
    args = dict(depth=depth, base_channels=8, stem_channels=8, **kwargs)
    return Case(args, channels[-1], _stages('layer', *channels, first=1), neck=GAP)


def _maps(auto: dict[str, int], out: int | None = None, size: int = 64, **args: Any) -> Case:
    return Case(args, out or list(auto.values())[-1], auto, size=size, neck=GAP)


def _pooled(auto: dict[str, int], **args: Any) -> Case:
    return Case(args, list(auto.values())[-1], auto)


def _swin(auto: dict[str, int], neck: Any = GAP, **args: Any) -> Case:
    arch = dict(embed_dims=16, depths=[1, 1, 2, 1], num_heads=[1, 2, 4, 8], **args.pop('arch', {}))
    return Case(dict(arch=arch, **args), list(auto.values())[-1], auto, axis=2, neck=neck)


def _tokens(prefix: str = 'layers.', out: Any = 24, axis: int = 2, **kwargs: Any) -> Case:
    arch = dict(embed_dims=24, num_layers=8, num_heads=2, feedforward_channels=48)
    args = kwargs.pop('args', None) or dict(
        arch={**arch, **kwargs.pop('arch', {})}, img_size=64, **kwargs.pop('more', {})
    )
    auto = {f'{prefix}{k}': 24 for k in (1, 3, 5, 7)}
    return Case(args, out, auto, axis=axis, **kwargs)


_FOUR = _stages('stages.', 8, 16, 24, 32)
_POOL = {'network.0': 8, 'network.2': 16, 'network.4': 24, 'network.6': 32}
_DIMS = dict(depths=[1, 1, 1, 1])
_TWINS = dict(
    embed_dims=[8, 16, 24, 32],
    num_heads=[1, 2, 2, 2],
    patch_sizes=[4, 2, 2, 2],
    strides=[4, 2, 2, 2],
    mlp_ratios=[2, 2, 2, 2],
    sr_ratios=[8, 4, 2, 1],
)
_TWINS_AUTO = {'stages.0.0': 8, 'stages.1.1': 16, 'stages.2.0': 24, 'stages.3.0': 32}

CASES: dict[str, Case] = {
    # Plain convolutional networks: stages are what lies between two changes of resolution.
    'AlexNet': Case(
        dict(num_classes=NUM_CLASSES),
        0,
        {'features.1': 64, 'features.4': 192, 'features.11': 256, 'features.12': 256},
        size=224,
        head=_CLS,
    ),
    'LeNet5': Case(
        dict(num_classes=NUM_CLASSES),
        0,
        {'features.2': 6, 'features.4': 16, 'features.5': 16, 'features.7': 120},
        size=32,
        in_channels=1,
        head=_CLS,
    ),
    'VGG': _maps(
        {'features.5': 256, 'features.8': 512, 'features.11': 512, 'features.12': 512},
        size=32,
        depth=11,
    ),
    'InceptionV3': Case(
        dict(num_classes=NUM_CLASSES),
        0,
        size=75,
        head=_CLS,
        named=('maxpool2', 'Mixed_5d', 'Mixed_6e', 'Mixed_7c'),
    ),
    # Residual networks.
    **dict.fromkeys(('ResNet', 'ResNetV1c', 'ResNetV1d', 'ResNet_CIFAR'), _resnet(8, 16, 32, 64)),
    **dict.fromkeys(
        ('SEResNet', 'ResNeXt', 'SEResNeXt', 'Res2Net', 'ResNeSt'),
        _resnet(32, 64, 128, 256, depth=50),
    ),
    'PreActResNet': _maps(_stages('layer', 64, 128, 256, 512, first=1), size=32, depth=18),
    'RegNet': _maps(_stages('layer', 32, 64, 160, 384, first=1), arch='regnetx_400mf'),
    'DenseNet': _maps(
        _stages('stages.', 24, 28, 30, 31),
        arch=dict(growth_rate=8, depths=[2, 2, 2, 2], init_channels=8),
    ),
    'CSPDarkNet': _maps(_stages('stages.', 128, 256, 512, 1024, first=1), depth=53),
    'CSPResNet': _maps(_stages('stages.', 128, 256, 512, 1024), depth=50),
    'CSPResNeXt': _maps(_stages('stages.', 256, 512, 1024, 2048), depth=50),
    'RepVGG': _maps(
        _stages('stage_', 8, 16, 32, 64, first=1),
        arch=dict(
            num_blocks=[1, 1, 2, 1], width_factor=[0.25] * 4, group_layer_map=None, se_cfg=None
        ),
        base_channels=32,
    ),
    'MobileOne': _maps(
        _stages('stage', 16, 32, 64, 128, first=1),
        arch=dict(
            num_blocks=[1, 1, 2, 1],
            width_factor=[0.25] * 4,
            num_conv_branches=[1] * 4,
            num_se_blocks=[0] * 4,
        ),
    ),
    'HRNet': Case(
        dict(arch='w18'),
        2048,
        neck=[dict(type='HRFuseScales', in_channels=(18, 36, 72, 144)), GAP],
        named=('layer1', 'neck'),
    ),
    # Networks for phones: layers are blocks, and stages end where the resolution changes.
    'MobileNetV2': _maps(
        {'layer2': 8, 'layer3': 8, 'layer5': 24, 'conv2': 1280}, widen_factor=0.25
    ),
    'MobileNetV3': _maps(
        {'layer1': 8, 'layer3': 16, 'layer8': 24, 'layer12': 288}, arch='small_050'
    ),
    'EfficientNet': _maps(
        {'layers.2': 24, 'layers.3': 40, 'layers.4': 112, 'layers.6': 1280}, arch='b0'
    ),
    'EfficientNetV2': _maps(
        {'layers.2': 32, 'layers.3': 48, 'layers.5': 112, 'layers.7': 1280}, arch='b0'
    ),
    'ShuffleNetV1': _maps(_stages('layers.', 240, 480, 960)),
    'ShuffleNetV2': _maps(_stages('layers.', 48, 96, 192, 1024), widen_factor=0.5),
    'MobileViT': _maps(_stages('layers.', 24, 48, 64, 80, first=1), out=320, arch='xx_small'),
    'EfficientFormer': Case(
        dict(
            arch=dict(
                layers=[1, 1, 1, 2],
                embed_dims=[8, 16, 24, 32],
                downsamples=[False, True, True, True],
                vit_num=1,
            )
        ),
        32,
        _stages('network.', 8, 16, 24, 32),
        axis=(1, 1, 1, 2),
        size=224,
        neck=dict(type='GlobalAveragePooling', dim=1),
        head=dict(type='EfficientFormerClsHead', distillation=False),
    ),
    # Newer convolutional networks.
    'ConvNeXt': _pooled(_FOUR, arch=dict(depths=[1, 1, 2, 1], channels=[8, 16, 24, 32])),
    'ConvMixer': _maps(
        _stages('stages.', 16, 16, 16, 16),
        arch=dict(embed_dims=16, depth=4, patch_size=4, kernel_size=3),
    ),
    'RepLKNet': _maps(
        _FOUR,
        arch=dict(
            large_kernel_sizes=[5, 5, 3, 3],
            layers=[1, 1, 1, 1],
            channels=[8, 16, 24, 32],
            small_kernel=3,
            dw_ratio=1,
        ),
    ),
    'RepMLPNet': _maps(
        _FOUR,
        size=128,
        arch=dict(channels=[8, 16, 24, 32], sharesets_nums=[1, 2, 2, 2], **_DIMS),
        img_size=128,
    ),
    'PoolFormer': _maps(_POOL, arch=dict(layers=[1, 1, 1, 1], embed_dims=[8, 16, 24, 32])),
    'RIFormer': _maps(
        _POOL,
        arch=dict(layers=[1, 1, 1, 1], embed_dims=[8, 16, 24, 32], mlp_ratios=[2, 2, 2, 2]),
    ),
    'VAN': _maps(
        {'blocks1.0': 8, 'blocks2.1': 16, 'blocks3.0': 24, 'blocks4.0': 32},
        arch=dict(embed_dims=[8, 16, 24, 32], depths=[1, 2, 1, 1], ffn_ratios=[2, 2, 2, 2]),
    ),
    'HorNet': _pooled(
        _stages('stages.', 16, 32, 64, 128),
        arch=dict(
            base_dim=16, orders=[2, 3, 4, 5], dw_cfg=[dict(type='DW', kernel_size=7)] * 4, **_DIMS
        ),
    ),
    'EdgeNeXt': _pooled(
        _stages('stages.', 16, 24, 32, 48),
        arch=dict(channels=[16, 24, 32, 48], depths=[2, 2, 2, 2], num_heads=[2, 2, 2, 2]),
    ),
    'Vig': Case(
        dict(arch='tiny'),
        192,
        {f'blocks.{k}': 192 for k in (2, 5, 8, 11)},
        size=224,
        neck=GAP,
        head=dict(type='VigClsHead', hidden_dim=16),
    ),
    'PyramidVig': Case(
        dict(arch='tiny'),
        384,
        _stages('stages.', 48, 96, 240, 384),
        size=224,
        neck=GAP,
        head=dict(type='VigClsHead', hidden_dim=16),
    ),
    # Transformers with stages.
    'SwinTransformer': _swin(_stages('stages.', 16, 32, 64, 128), img_size=64, window_size=2),
    'SwinTransformerV2': _swin(
        _stages('stages.', 16, 32, 64, 128),
        arch=dict(extra_norm_every_n_blocks=0),
        img_size=64,
        window_size=2,
    ),
    'DaViT': _swin(_stages('stages.', 16, 32, 64, 128), window_size=2),
    'MixMIMTransformer': _swin(
        _stages('layers.', 32, 64, 128, 128), neck=None, img_size=64, window_size=[2, 2, 2, 2]
    ),
    'TinyViT': Case(
        dict(
            arch=dict(channels=[16, 24, 32, 48], num_heads=[1, 2, 2, 2], **_DIMS),
            img_size=(64, 64),
            window_size=[2, 2, 2, 2],
        ),
        48,
        _stages('stages.', 24, 32, 48, 48),
        axis=2,
    ),
    'MViT': Case(
        dict(
            arch=dict(embed_dims=16, num_layers=6, num_heads=1, downscale_indices=[1, 2, 4]),
            img_size=64,
        ),
        128,
        {'blocks.0': 16, 'blocks.1': 32, 'blocks.3': 64, 'blocks.5': 128},
        axis=2,
        neck=GAP,
    ),
    'LeViT': Case(
        dict(arch='128s', img_size=64),
        384,
        _stages('stages.', 128, 256, 384),
        axis=2,
        neck=GAP,
        head=dict(type='LeViTClsHead', distillation=False),
    ),
    'PCPVT': Case(
        dict(arch=dict(depths=[1, 2, 1, 1], **_TWINS)), 32, _TWINS_AUTO, axis=2, neck=GAP
    ),
    'SVT': Case(
        dict(arch=dict(depths=[1, 2, 1, 1], window_sizes=[2, 2, 2, 2], **_TWINS)),
        32,
        _TWINS_AUTO,
        axis=2,
        neck=GAP,
    ),
    'HiViT': Case(
        dict(arch=dict(embed_dims=64, depths=[1, 1, 8], num_heads=2), img_size=64),
        64,
        neck=GAP,
        named=('blocks.1', 'blocks.4', 'blocks.5', 'blocks.9', 1, -1),
        channel_axis=-1,
    ),
    # Transformers of one resolution: quarter depths.
    'VisionTransformer': _tokens(head=dict(type='VisionTransformerClsHead')),
    'DistilledVisionTransformer': _tokens(head=dict(type='DeiTClsHead')),
    'DeiT3': _tokens(),
    'BEiTViT': _tokens(),
    'MoCoV3ViT': _tokens(more=dict(patch_size=16)),
    'ViTEVA02': _tokens(),
    'ViTSAM': _tokens(out=256, axis=3, arch=dict(global_attn_indexes=[1, 3]), neck=GAP),
    'T2T_ViT': _tokens(
        'encoder.',
        args=dict(
            img_size=64,
            embed_dims=24,
            num_layers=8,
            t2t_cfg=dict(token_dims=16, use_performer=False),
            layer_cfgs=dict(num_heads=2, feedforward_channels=48),
        ),
        head=dict(type='VisionTransformerClsHead'),
    ),
    'XCiT': _tokens('xca_layers.', args=dict(img_size=64, embed_dims=24, depth=8, num_heads=2)),
    'MlpMixer': _tokens(
        args=dict(
            arch=dict(embed_dims=24, num_layers=8, tokens_mlp_dims=16, channels_mlp_dims=32),
            img_size=64,
        ),
        neck=dict(type='GlobalAveragePooling', dim=1),
    ),
    # Two streams of features: only layers before or after both can be named.
    'RevVisionTransformer': Case(
        dict(
            arch=dict(embed_dims=24, num_layers=4, num_heads=2, feedforward_channels=48),
            img_size=64,
        ),
        48,
        named=('drop_after_pos', 'fusion_layer', 'head'),
    ),
    'TNT': Case(
        dict(
            arch=dict(
                embed_dims_outer=24,
                embed_dims_inner=8,
                num_layers=4,
                num_heads_inner=2,
                num_heads_outer=2,
            ),
            img_size=64,
        ),
        24,
        named=('drop_after_pos', 'norm'),
    ),
    'Conformer': Case(
        dict(arch=dict(embed_dims=24, depths=12, num_heads=2, channel_ratio=1)),
        [256, 24],
        head=dict(type='ConformerHead'),
        named=('maxpool',),
    ),
}
