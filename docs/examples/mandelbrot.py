"""The Mandelbrot set, written to a PNG picture."""
import math
import os

import numpy as np

import png
from pyjitc import njit


@njit
def escape(cx, cy, limit):
    """Smooth number of iterations until z = z*z + c leaves the circle of radius 16; -1.0 if it stays."""
    x = 0.0
    y = 0.0
    for n in range(limit):
        xx = x * x
        yy = y * y
        if xx + yy > 256.0:
            return n + 1 - math.log2(0.5 * math.log2(xx + yy))
        y = 2.0 * x * y + cy
        x = xx - yy + cx
    return -1.0


@njit
def render(left, right, bottom, top, width, height, limit):
    image = np.empty((height, width))
    for row in range(height):
        cy = top + (bottom - top) * row / (height - 1)
        for column in range(width):
            cx = left + (right - left) * column / (width - 1)
            image[row, column] = escape(cx, cy, limit)
    return image


def load():
    return -2.2, 0.8, -1.125, 1.125, 480, 360, 120


def run(left, right, bottom, top, width, height, limit):
    return render(left, right, bottom, top, width, height, limit)


def report(image, folder):
    inside = image < 0
    shade = np.where(inside, 0.0, np.log1p(np.maximum(image, 0.0)))[:, :, None]
    rgb = 127.5 - 127.5 * np.cos(1.6 * shade + np.array([0.3, 1.0, 1.9]))
    rgb[inside] = 0
    path = os.path.join(folder, "mandelbrot.png")
    png.write(path, rgb.astype(np.uint8))
    return f"{inside.mean():.1%} inside; picture in {path}"
