# Registers everything of this project.
custom_imports = dict(imports=['mmshufflemix'], allow_failed_imports=False)
default_scope = 'mmpretrain'

default_hooks = dict(
    timer=dict(type='IterTimerHook'),
    logger=dict(type='LoggerHook', interval=100),
    param_scheduler=dict(type='ParamSchedulerHook'),
    # Complete files only, and the old one is removed after the new one is written.
    checkpoint=dict(type='SafeCheckpointHook', interval=1, max_keep_ckpts=2),
    sampler_seed=dict(type='DistSamplerSeedHook'),
    visualization=dict(type='VisualizationHook', enable=False),
)
# A resumed run equals one without the stop: every epoch is seeded from (seed, rank, epoch),
# schedules end where this config says, and all ranks validate the model that is saved.
custom_hooks = [
    dict(type='EpochSeedHook'),
    dict(type='ScheduleResumeHook'),
    dict(type='BroadcastBuffersHook'),
]

env_cfg = dict(
    cudnn_benchmark=False,
    mp_cfg=dict(mp_start_method='fork', opencv_num_threads=0),
    # tools/train.py and tools/test.py take gloo where there is no GPU.
    dist_cfg=dict(backend='nccl'),
)

vis_backends = [dict(type='LocalVisBackend')]
visualizer = dict(type='UniversalVisualizer', vis_backends=vis_backends)

log_level = 'INFO'
load_from = None
resume = False
randomness = dict(seed=0, deterministic=False)
