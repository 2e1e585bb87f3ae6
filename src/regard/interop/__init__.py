"""Models of others, in and out."""

from regard.interop.importing import Imported, import_model

__all__ = ["Imported", "import_model"]
