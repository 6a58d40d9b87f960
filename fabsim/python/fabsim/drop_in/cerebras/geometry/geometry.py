"""Places and rectangles, as layouts in Python name them."""

from fabsim.layout_values import IntRectangle, IntVector

__all__ = ["IntRectangle", "IntVector"]
