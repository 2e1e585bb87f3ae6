"""Models of others, in and out."""

from regard.interop.exporting import Exported, export_model
from regard.interop.imported import Imported
from regard.interop.importing import import_model

__all__ = ["Exported", "Imported", "export_model", "import_model"]
