"""Gradients: the slope of any function of tensors, and of the slope, too."""

import webtensor as wt


def wave(x):
    return wt.sin(x) * wt.exp(-0.2 * x)


def slope_of(function):
    return wt.grad(lambda x: wt.sum(function(x)))


slope = slope_of(wave)
curvature = slope_of(slope)

x = wt.linspace(0, 12, 200)
lines = {"wave": wave(x), "slope": slope(x), "curvature": curvature(x)}
plot(x, lines, title="A damped wave", x_label="x")
