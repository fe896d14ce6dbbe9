"""What is where: objects of 80 kinds."""

from page import element
from picture import Picture

from webtensor.vision import CenterNet

picture = Picture()
model = await CenterNet.load_async(
    "../pretrained/centernet.json",
    load_options=picture.loading("CenterNet"),
)

async for frame in picture.frames():
    min_score = float(element("score").value)
    objects = await model.detect_async(frame.pixels, min_score=min_score)

    overlay = picture.show(frame)
    boxes = [item.box for item in objects]
    texts = [f"{item.label} {item.score:.0%}" for item in objects]
    overlay.draw_boxes(boxes, texts)
    picture.say(f"Scores of {min_score:.0%} or more: {', '.join(texts) or 'none'}")
