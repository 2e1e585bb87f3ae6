"""Runs as ONNX graphs, and a small runtime that decodes with them."""

from regard.interop.onnx.session import Session

__all__ = ["Session"]
