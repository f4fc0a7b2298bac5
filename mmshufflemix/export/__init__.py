"""From a trained model to one ONNX file that needs neither PyTorch nor this package."""

from mmshufflemix.export.packages import require_packages
from mmshufflemix.export.run import Exported, export_model

__all__ = ['Exported', 'export_model', 'require_packages']
