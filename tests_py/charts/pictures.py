"""Reading charts: their SVG must be well-formed, and without scripts and styles."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from webtensor.charts import Chart

__all__ = ["SVG", "circles", "parsed", "polylines", "texts", "tooltips"]

SVG = "{http://www.w3.org/2000/svg}"


def parsed(chart: Chart) -> ElementTree.Element:
    """The root of a chart's SVG."""
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", chart.svg)
    root = ElementTree.fromstring(chart.svg)
    assert root.attrib["role"] == "img"
    return root


def texts(chart: Chart) -> list[str]:
    """All texts that a chart shows."""
    return [element.text or "" for element in parsed(chart).iter(f"{SVG}text")]


def tooltips(chart: Chart) -> list[str]:
    """All texts that a chart shows on pointing."""
    return [element.text or "" for element in parsed(chart).iter(f"{SVG}title")]


def polylines(chart: Chart) -> list[list[tuple[float, float]]]:
    """The coordinates of all lines through points."""

    def coordinates() -> Iterator[list[tuple[float, float]]]:
        for line in parsed(chart).iter(f"{SVG}polyline"):
            pairs = (pair.split(",") for pair in line.attrib["points"].split())
            yield [(float(x), float(y)) for x, y in pairs]

    return list(coordinates())


def circles(chart: Chart) -> list[tuple[float, float]]:
    """The centres of all dots."""
    dots = parsed(chart).iter(f"{SVG}circle")
    return [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in dots]
