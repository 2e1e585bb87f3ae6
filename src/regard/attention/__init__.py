"""The one attention: `attend` plus a score, a pattern, a position scheme and a compression."""

from regard.attention.attend import Attended, attend
from regard.attention.cache import Cache
from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import Pattern, causal, everyone, window

__all__ = ["Attended", "Cache", "Look", "MultiHead", "Pattern", "attend", "causal", "everyone", "window"]
