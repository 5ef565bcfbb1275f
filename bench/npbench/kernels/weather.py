"""Stencils of weather models: horizontal diffusion and vertical advection."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel

BET_M = 0.5
BET_P = 0.5


def hdiff(field, out, coeff):
    NI, NJ = out.shape[0], out.shape[1]
    lap = 4.0 * field[1:NI + 3, 1:NJ + 3, :] - (field[2:NI + 4, 1:NJ + 3, :] + field[0:NI + 2, 1:NJ + 3, :]
                                                + field[1:NI + 3, 2:NJ + 4, :] + field[1:NI + 3, 0:NJ + 2, :])
    res = lap[1:, 1:NJ + 1, :] - lap[:-1, 1:NJ + 1, :]
    flx = np.where((res * (field[2:NI + 3, 2:NJ + 2, :] - field[1:NI + 2, 2:NJ + 2, :])) > 0, 0, res)
    res = lap[1:NI + 1, 1:, :] - lap[1:NI + 1, :-1, :]
    fly = np.where((res * (field[2:NI + 2, 2:NJ + 3, :] - field[2:NI + 2, 1:NJ + 2, :])) > 0, 0, res)
    out[:, :, :] = field[2:NI + 2, 2:NJ + 2, :] - coeff[:, :, :] * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :])


def make_hdiff(NI, NJ, NK):
    rng = np.random.default_rng(42)
    return rng.random((NI + 4, NJ + 4, NK)), rng.random((NI, NJ, NK)), rng.random((NI, NJ, NK))


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    NI, NJ, NK = utens_stage.shape[0], utens_stage.shape[1], utens_stage.shape[2]
    ccol = np.ndarray((NI, NJ, NK), dtype=utens_stage.dtype)
    dcol = np.ndarray((NI, NJ, NK), dtype=utens_stage.dtype)
    data_col = np.ndarray((NI, NJ), dtype=utens_stage.dtype)
    # The first level
    for k in range(1):
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        cs = gcv * BET_M
        ccol[:, :, k] = gcv * BET_P
        bcol = dtr_stage - ccol[:, :, k]
        correction = -cs * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        divided = 1.0 / bcol
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = dcol[:, :, k] * divided
    # Forward through the levels
    for k in range(1, NK - 1):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        as_ = gav * BET_M
        cs = gcv * BET_M
        acol = gav * BET_P
        ccol[:, :, k] = gcv * BET_P
        bcol = dtr_stage - acol - ccol[:, :, k]
        correction = (-as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
                      - cs * (u_stage[:, :, k + 1] - u_stage[:, :, k]))
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = (dcol[:, :, k] - (dcol[:, :, k - 1]) * acol) * divided
    # The last level
    for k in range(NK - 1, NK):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        as_ = gav * BET_M
        acol = gav * BET_P
        bcol = dtr_stage - acol
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        dcol[:, :, k] = (dcol[:, :, k] - (dcol[:, :, k - 1]) * acol) * divided
    # Back substitution
    for k in range(NK - 1, NK - 2, -1):
        column = dcol[:, :, k]
        data_col[:] = column
        utens_stage[:, :, k] = dtr_stage * (column - u_pos[:, :, k])
    for k in range(NK - 2, -1, -1):
        column = dcol[:, :, k] - ccol[:, :, k] * data_col[:, :]
        data_col[:] = column
        utens_stage[:, :, k] = dtr_stage * (column - u_pos[:, :, k])


def make_vadv(NI, NJ, NK):
    rng = np.random.default_rng(42)
    utens_stage, u_stage, u_pos, utens = (rng.random((NI, NJ, NK)) for _ in range(4))
    return utens_stage, u_stage, rng.random((NI + 1, NJ, NK)), u_pos, utens, 3.0 / 20.0


KERNELS = (
    Kernel(hdiff, make_hdiff, dict(NI=64, NJ=64, NK=60), dict(NI=4, NJ=5, NK=3), ("out",)),
    Kernel(vadv, make_vadv, dict(NI=60, NJ=60, NK=40), dict(NI=4, NJ=5, NK=6), ("utens_stage",)),
)
