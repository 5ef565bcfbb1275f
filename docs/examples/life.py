"""Conway's Game of Life on a torus, from the R-pentomino; the last board goes to a PNG picture."""
import os

import numpy as np

import png
from pyjitc import njit


@njit
def step(board, after):
    height, width = board.shape
    for i in range(height):
        up = i - 1
        down = i + 1 if i + 1 < height else 0
        for j in range(width):
            left = j - 1
            right = j + 1 if j + 1 < width else 0
            near = (board[up, left] + board[up, j] + board[up, right] + board[i, left] + board[i, right]
                    + board[down, left] + board[down, j] + board[down, right])
            if near == 3 or (near == 2 and board[i, j] == 1):
                after[i, j] = 1
            else:
                after[i, j] = 0


@njit
def live(board, generations):
    """Two boards take turns."""
    after = np.empty(board.shape, np.uint8)
    for _ in range(generations):
        step(board, after)
        board, after = after, board
    return board


def load():
    board = np.zeros((64, 80), np.uint8)
    for row, column in (31, 40), (31, 41), (32, 39), (32, 40), (33, 40):
        board[row, column] = 1
    return (board,)


def run(board):
    return live(board.copy(), 150)


def report(board, folder):
    path = os.path.join(folder, "life.png")
    cells = np.repeat(np.repeat(board, 6, axis=0), 6, axis=1)[:, :, None]
    png.write(path, np.where(cells == 1, np.array([20, 60, 120]), np.array([245, 245, 240])).astype(np.uint8))
    return f"{board.sum()} cells alive after 150 generations; picture in {path}"
