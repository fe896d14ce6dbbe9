"""Images are tensors, too: a fractal, computed for all its pixels at once."""

import webtensor as wt

WIDTH, HEIGHT, STEPS = 320, 240, 40

x, y = wt.meshgrid(wt.linspace(-2.2, 1.0, WIDTH), wt.linspace(-1.2, 1.2, HEIGHT))

# Where z² + c stays small for many steps, the pixel is in the Mandelbrot set.
real, imaginary = x, y
steps = wt.zeros((HEIGHT, WIDTH))
for _ in range(STEPS):
    real, imaginary = (
        wt.clip(real * real - imaginary * imaginary + x, -4, 4),
        wt.clip(2 * real * imaginary + y, -4, 4),
    )
    steps = steps + wt.astype(real * real + imaginary * imaginary < 4, "float32")

shade = steps / STEPS
colours = wt.stack([shade**2, shade**0.7, wt.sqrt(shade) * (1 - shade) + shade**4], axis=2)
display(picture(colours))

# The same image at half its size, in grey.
small = wt.image.resize_bilinear(wt.expand_dims(colours, 0), (HEIGHT // 2, WIDTH // 2))
picture(wt.mean(small[0], axis=2))
