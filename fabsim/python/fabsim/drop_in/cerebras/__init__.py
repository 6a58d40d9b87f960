"""Stand-ins for the vendor's host modules, backed by fabsim.

What the vendor's own package has beside them, where it is installed, is found as well.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
