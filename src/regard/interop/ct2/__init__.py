"""Models of CTranslate2, a library that decodes Transformers fast."""
