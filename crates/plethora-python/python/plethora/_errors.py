"""The exceptions of the package."""


class Error(Exception):
    """Everything that goes wrong in plethora; the others derive from it."""


class DataError(Error, ValueError):
    """Texts, features, labels or a corpus cannot be used for what was asked."""


class ConfigError(Error, ValueError):
    """A setting is unknown or has a value that cannot work."""


class ModelError(Error):
    """A model folder is missing something, is damaged or does not fit this program."""


class NotFittedError(Error, ValueError, AttributeError):
    """The classifier was neither fitted nor loaded."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written, or is there already."""


class ComputeError(Error, RuntimeError):
    """A computation failed, as when memory runs out."""
