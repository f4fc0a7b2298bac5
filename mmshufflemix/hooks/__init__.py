"""Runner hooks, registered in MMPretrain's HOOKS."""

from mmshufflemix.hooks.broadcast_buffers_hook import BroadcastBuffersHook
from mmshufflemix.hooks.channels_last_hook import ChannelsLastHook
from mmshufflemix.hooks.class_check_hook import ClassCheckHook
from mmshufflemix.hooks.epoch_seed_hook import EpochSeedHook
from mmshufflemix.hooks.label_graph_hook import LabelGraphHook
from mmshufflemix.hooks.pos_weight_hook import PosWeightHook
from mmshufflemix.hooks.resume_check_hook import ResumeCheckHook
from mmshufflemix.hooks.safe_checkpoint_hook import SafeCheckpointHook
from mmshufflemix.hooks.schedule_resume_hook import ScheduleResumeHook
from mmshufflemix.hooks.train_check_hook import TrainCheckHook

__all__ = [
    'BroadcastBuffersHook',
    'ChannelsLastHook',
    'ClassCheckHook',
    'EpochSeedHook',
    'LabelGraphHook',
    'PosWeightHook',
    'ResumeCheckHook',
    'SafeCheckpointHook',
    'ScheduleResumeHook',
    'TrainCheckHook',
]
