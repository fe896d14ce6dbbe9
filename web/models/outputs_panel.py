"""The panel that shows a model's outputs, one at a time, in the view that the visitor chooses."""

from collections.abc import Sequence
from html import escape
from typing import Any

from page import element, on, write
from specifications import LONGEST_NAME, written_shape
from views import (
    VIEWS,
    Output,
    draw_heat_map,
    plain_numbers,
    plane_count,
    show_largest,
    views_of,
)


class OutputsPanel:
    """The outputs of a run, and the controls to choose among them."""

    def __init__(self) -> None:
        """Wire the controls to no outputs."""
        self.outputs: Sequence[Output] = ()
        self.how = ""
        for name in ("output", "view", "plane"):
            on(element(name), "change", self.change)

    def clear(self) -> None:
        """Forget the outputs."""
        self.outputs = ()
        for name in ("output", "view"):
            element(name).innerHTML = ""
            element(name).disabled = True
        for name in (*VIEWS, "plane-label"):
            element(name).hidden = True
        write("result-state", "Nothing is computed yet.")

    def show(self, outputs: Sequence[Output], how: str) -> None:
        """Show outputs, and how they were computed."""
        self.outputs, self.how = outputs, how
        element("output").innerHTML = "".join(
            f'<option value="{index}">{escape(output.name[:LONGEST_NAME])}</option>'
            for index, output in enumerate(outputs)
        )
        element("output").disabled = element("view").disabled = False
        self.show_output()

    def change(self, event: Any) -> None:
        """Show what the visitor chose.

        Browsers report what was typed when they hide its field, as well: there is no output then.
        """
        if not self.outputs:
            return
        if event.target.id == "output":
            self.show_output()
        else:
            self.show_view()

    @property
    def chosen(self) -> Output:
        """The output that the visitor chose."""
        return self.outputs[int(element("output").value)]

    def show_output(self) -> None:
        """Show the chosen output in the view that fits it best."""
        output = self.chosen
        element("view").innerHTML = "".join(
            f'<option value="{view}">{VIEWS[view]}</option>' for view in views_of(output)
        )
        element("plane").max, element("plane").value = str(plane_count(output) - 1), "0"
        self.show_view()

    def show_view(self) -> None:
        """Show the chosen output in the chosen view."""
        output = self.chosen
        view = str(element("view").value)
        for name in VIEWS:
            element(name).hidden = name != view
        count = plane_count(output)
        element("plane-label").hidden = view != "map" or count == 1
        facts = [f"{written_shape(output.shape)}, {output.dtype}"]
        match view:
            case "largest":
                show_largest(output, element("largest"))
            case "map":
                plane = min(max(int(float(element("plane").value or 0)), 0), count - 1)
                facts.append(draw_heat_map(output, plane, element("map")))
                label = f"Heat map of {output.name[:LONGEST_NAME]}: {facts[-1]}"
                element("map").setAttribute("aria-label", label)
            case "numbers":
                write("numbers", plain_numbers(output))
        write("result-state", f"{'; '.join(facts)}. {self.how}.")
