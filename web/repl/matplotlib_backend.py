"""Shows Matplotlib's figures in the console; `main.py` makes it the backend of pyplot."""

import builtins
import io

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg


class FigurePicture:
    """A figure as an image."""

    def __init__(self, canvas: FigureCanvasAgg) -> None:
        """Draw the figure."""
        image = io.BytesIO()
        canvas.print_figure(image, format="png", dpi=canvas.figure.dpi, bbox_inches="tight")
        self.image = image.getvalue()

    def _repr_png_(self) -> bytes:
        return self.image


class FigureManager(FigureManagerBase):
    """Shows a figure and then forgets it, as it cannot change any more."""

    canvas: FigureCanvasAgg

    def show(self) -> None:
        """Show the figure."""
        vars(builtins)["display"](FigurePicture(self.canvas))
        Gcf.destroy(self)

    @classmethod
    def pyplot_show(cls, *, block: bool | None = None) -> None:
        """Show all figures, as `pyplot.show()` does."""
        for manager in Gcf.get_all_fig_managers():
            manager.show()


class FigureCanvas(FigureCanvasAgg):
    """A canvas that Agg draws on."""

    manager_class = FigureManager
