"""Pictures of a program: what its plan says, what is predicted, and what a run did, as one page.

`model` makes plain data of a plan and its prediction, `watching` runs a bundle with a trace, `page`
puts data and traces into the page that `viewer/` builds, `picture` makes a PNG of it. The form of
the data is in docs/viewer.md.
"""

from collc.view.model import Observed, ViewData, Viewed, view_data
from collc.view.picture import VIEWS, Page, PictureError, page_of, picture
from collc.view.watching import Scope, watched_run
