"""Normalising a vector (B9)."""

from torch import nn

from regard.errors import UserError, suggest

NORMALIZERS = {
    "layer": nn.LayerNorm,  # (x - mean) / sqrt(variance + eps), gain and bias
    "rms": nn.RMSNorm,  # x / sqrt(mean of squares + eps), gain alone (Zhang and Sennrich, 2019)
    "none": nn.Identity,  # x as it is: what C10 compares with
}


def normalizer(kind: str, width: int, epsilon: float = 1e-5) -> nn.Module:
    if kind not in NORMALIZERS:
        raise UserError(f"no normalizer '{kind}'{suggest(kind, list(NORMALIZERS))}")
    return NORMALIZERS[kind](width, eps=epsilon)
