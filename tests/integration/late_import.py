"""A process in which the recipe of a hook is the first to import mmshufflemix."""

from __future__ import annotations

import json
import sys

from mmengine.runner import Runner

from tests.integration.tiny import job


def main(work_dir: str) -> None:
    """Train two epochs, the second with mixing, and print epoch and layer of each mixing."""
    recipe = dict(
        action_epoch=2,
        batch_augments=dict(augments=dict(type='mmshufflemix.ShuffleMix', layers=[2])),
    )
    cfg = job(work_dir, custom_hooks=[dict(type='SwitchRecipeHook', schedule=[recipe])])
    if 'mmshufflemix' in sys.modules:
        raise SystemExit('mmshufflemix was imported before the job was built')
    runner = Runner.from_cfg(cfg)
    from tests.integration.recording import recorded_mixing

    with recorded_mixing(note=lambda plan: (runner.epoch + 1, plan.site.name)) as mixed:
        runner.train()
    print(json.dumps(mixed))


if __name__ == '__main__':
    main(sys.argv[1])
