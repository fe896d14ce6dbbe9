"""A person in front of another background."""

from page import element
from picture import Picture

import webtensor as wt
from webtensor.vision import PersonSegmenter, blur_background, replace_background

# Two pixels, blue above red: they are scaled to the picture's size.
EVENING = wt.tensor([[[0.1, 0.15, 0.45]], [[1.0, 0.55, 0.4]]])

picture = Picture()
model = await PersonSegmenter.load_async(
    "../pretrained/selfie.json",
    load_options=picture.loading("Selfie Segmentation"),
)

async for frame in picture.frames():
    person = await model.segment_people_async(frame.pixels)
    background = element("background").value
    if background == "blur":
        radius = float(element("radius").value)
        result = blur_background(frame.pixels, person, radius)
    elif background == "evening":
        result = replace_background(frame.pixels, person, EVENING)
    else:
        result = person.mask

    wt.browser.draw(result, frame.canvas)  # on WebGL, the GPU draws
    picture.show(frame)
    height, width = frame.pixels.shape[:2]
    picture.say(f"{width} × {height} pixels")
