"""Start a tool in several processes as torchrun does, with its options.

A mistake of the user ends in its sentence, once and last; a bug keeps the report of torchrun.
"""

from __future__ import annotations

import logging
import os
import signal
import sys

try:
    from torch.distributed import DistNetworkError, run
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
except ImportError:
    # Says what to install; too slow to import for nothing.
    import mmshufflemix  # noqa: F401

    raise
except KeyboardInterrupt:
    sys.exit(130)


def mistake(error: ChildFailedError) -> str | None:
    """The sentence of the process that failed first, None if that was by a bug."""
    told = []
    for failure in error.failures.values():
        # mmshufflemix/failure_file.py writes it.
        if 'mistake' in failure.error_file_data:
            told.append(failure.error_file_data)
        elif failure.exitcode != -signal.SIGTERM:  # by which torchrun ends the others
            return None
    first = min(told, key=lambda report: report['timestamp'], default={'mistake': False})
    return first['message'] if first['mistake'] else None


def main() -> None:
    os.environ['MMSHUFFLEMIX_LAUNCHER'] = '1'
    # What it logs of failures is in its report.
    logging.getLogger('torch.distributed.elastic.multiprocessing.api').setLevel(logging.CRITICAL)
    try:
        run.run(run.parse_args(sys.argv[1:]))
    except SignalException as stop:
        sys.exit(128 + stop.sigval)
    except KeyboardInterrupt:  # before it listens to signals
        sys.exit(130)
    except DistNetworkError as error:
        reason = str(error).partition('\n')[0]
        sys.exit(f'error: the processes cannot meet, check PORT and MASTER_ADDR: {reason}')
    except ChildFailedError as error:
        sentence = mistake(error)
        if sentence is None:
            raise
        sys.exit(f'error: {sentence}')


if __name__ == '__main__':
    main()
