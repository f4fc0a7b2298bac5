"""Package definition: wheel and editable install."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent


def read_version() -> str:
    """Read the version without importing the package, which needs its requirements."""
    source = (ROOT / 'mmshufflemix' / '__init__.py').read_text(encoding='utf-8')
    return re.search(r"^__version__ = '([^']+)'$", source, re.MULTILINE).group(1)


def read_requirements(name: str) -> list[str]:
    """Read a file of requirements/, without comments."""
    lines = (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8').splitlines()
    return [line for line in map(str.strip, lines) if line and not line.startswith('#')]


readme = ROOT / 'README.md'

setup(
    name='mmshufflemix',
    version=read_version(),
    description="ShuffleMix and its family for OpenMMLab's MMPretrain, single- and multi-label",
    long_description=readme.read_text(encoding='utf-8') if readme.is_file() else '',
    long_description_content_type='text/markdown',
    keywords='deep learning, image classification, multi-label, mixup, ShuffleMix, OpenMMLab',
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'Operating System :: OS Independent',
        'Programming Language :: Python :: 3',
        'Programming Language :: Python :: 3.10',
        'Programming Language :: Python :: 3.11',
        'Topic :: Scientific/Engineering :: Artificial Intelligence',
    ],
    packages=find_packages(include=['mmshufflemix', 'mmshufflemix.*']),
    package_data={'mmshufflemix': ['py.typed', 'page/templates/*.html']},
    python_requires='>=3.10',
    install_requires=read_requirements('runtime'),
    # One of the two stacks is needed; they cannot be installed together.
    extras_require={
        'onedl': read_requirements('onedl'),
        'official': read_requirements('official'),
        'export': read_requirements('export'),
        'explain': read_requirements('explain'),
        'tests': read_requirements('tests'),
        'lint': read_requirements('lint'),
    },
    zip_safe=False,
)
