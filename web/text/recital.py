"""The text that the visitor chose, and what the network writes after it."""

import asyncio
from html import escape
from math import exp
from typing import Any

from character_model import rhyme
from page import element, problem_shown, write
from program import on
from pyodide.http import pyfetch

import webtensor as wt

FEWEST, MOST = 300, 20_000  # characters of a text
#: The number of the text's characters that stand for an empty prompt.
BEGINNING = 8
#: How many of the earlier recitals are shown.
EARLIER = 30


async def chosen_text() -> str:
    """Return the text that the visitor chose or wrote.

    Raises:
        ValueError: nothing can be learned from it here; the page says so, too.
    """
    match element("text").value:
        case "rhyme":
            return str(rhyme())
        case "sonnets":
            response = await pyfetch("sonnets.txt")
            response.raise_for_status()
            return str(await response.string())
    text = str(element("own").value)
    write("state", "The network waits for your text.")
    with problem_shown():
        if not text:
            await asyncio.Event().wait()  # a change of the text runs the program anew
        return checked(text)


def checked(text: str) -> str:
    """Return a text from which there is something to learn, in a time that one waits.

    Raises:
        ValueError: it is too short or too long, or has the same character throughout.
    """
    if not FEWEST <= len(text) <= MOST:
        raise ValueError(
            f"Your text has {len(text):,} characters; the network learns from {FEWEST} to {MOST:,}."
        )
    if len(set(text)) == 1:
        raise ValueError(f"Your text repeats {text[0]!r}; the network chooses from two at least.")
    return text


class Recital:
    """What is written, and what was written before, when less was learned."""

    def __init__(self, text: str) -> None:
        """Begin with an empty page."""
        self._text = text
        self._losses: list[tuple[int, float]] = []
        self._heading = "Epoch 0"
        self._wished = asyncio.Event()
        write("state", "The network has learned nothing yet.")
        write("prompt-shown", "")
        write("written", "")
        write("earlier", "")
        for control in ("prompt", "temperature"):
            on(element(control), "change", self._wish)

    def _wish(self, event: Any) -> None:
        self._wished.set()

    async def wish(self) -> None:
        """Wait until the visitor changes the prompt or the temperature."""
        self._heading = "Learned"
        write("state", "It has learned. Change the prompt or the temperature to read more.")
        await self._wished.wait()
        self._wished.clear()

    @property
    def temperature(self) -> float:
        """The temperature that the visitor chose."""
        return float(element("temperature").value)

    def show_loss(self, epoch: int, loss: float) -> None:
        """Say after an epoch how well the network knows what comes next."""
        self._losses.append((epoch, loss))
        self._heading = f"Epoch {epoch}"
        wavering = f"{exp(loss):.1f} of the {len(set(self._text))} characters"
        write("state", f"Epoch {epoch}: it wavers as if between {wavering}.")
        wt.visor.render.line_chart(
            {"nats per character": self._losses}, "losses", height=140, width=900, x_label="epoch"
        )

    def begin(self) -> str:
        """Put what was written to the earlier texts, and return the prompt for the next."""
        if element("written").textContent:
            self._keep()
        alphabet = set(self._text)
        prompt = "".join(letter for letter in element("prompt").value if letter in alphabet)
        self._prompt = prompt or self._text[:BEGINNING]
        write("heading", self._heading)
        write("prompt-shown", self._prompt)
        write("written", "")
        return self._prompt

    def write(self, text: str) -> None:
        """Show what is written so far, which begins with the prompt."""
        write("written", text.removeprefix(self._prompt))

    def _keep(self) -> None:
        heading, text = element("heading").textContent, element("current").textContent
        earlier = element("earlier")
        earlier.insertAdjacentHTML(
            "afterbegin", f"<li><strong>{escape(heading)}</strong> {escape(text)}</li>"
        )
        if earlier.childElementCount > EARLIER:
            earlier.lastElementChild.remove()
