"""The certificate of a run: what must be equal, how much it differs, on which inputs. One file per line of it."""

from regard.verify.certificate import LINES, Certificate, Line, verify

__all__ = ["LINES", "Certificate", "Line", "verify"]
