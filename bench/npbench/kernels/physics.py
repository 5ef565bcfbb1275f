"""Complex numbers, particles, transforms."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel


def make_complex(rng, *shape):
    return rng.random(shape) + rng.random(shape) * 1j


def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
    P0 = np.zeros((NR, NM), dtype=np.complex128)
    P1 = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        Tz = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            zz = np.power(z, slab_per_bc / 2 - n)
            Tz += zz * Ham[n]
        if NR == NM:
            X = np.linalg.inv(Tz)
        else:
            X = np.linalg.solve(Tz, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X
    return P0, P1


def make_contour_integral(NR, NM, slab_per_bc, num_int_pts):
    rng = np.random.default_rng(42)
    return (NR, NM, slab_per_bc, make_complex(rng, slab_per_bc + 1, NR, NR), make_complex(rng, num_int_pts),
            make_complex(rng, NR, NM))


def mandelbrot1(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon=2.0):
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)
    C = X + Y[:, None] * 1j
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(maxiter):
        inside = np.less(abs(Z), horizon)
        N[inside] = n
        Z[inside] = Z[inside]**2 + C[inside]
    N[N == maxiter - 1] = 0
    return Z, N


def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon=2.0):
    Xi, Yi = np.mgrid[0:xn, 0:yn]
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)[Xi]
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)[Yi]
    C = X + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    # Published as an assignment to the attribute `shape`, which NumPy 2.5 deprecates in favour of reshape.
    Xi, Yi, C = np.reshape(Xi, xn * yn), np.reshape(Yi, xn * yn), np.reshape(C, xn * yn)
    Z = np.zeros(C.shape, np.complex128)
    for i in range(itermax):
        if not len(Z):
            break
        # Only the points that are still inside are computed.
        np.multiply(Z, Z, Z)
        np.add(Z, C, Z)
        outside = abs(Z) > horizon
        N_[Xi[outside], Yi[outside]] = i + 1
        Z_[Xi[outside], Yi[outside]] = Z[outside]
        np.logical_not(outside, outside)
        Z = Z[outside]
        Xi, Yi = Xi[outside], Yi[outside]
        C = C[outside]
    return Z_.T, N_.T


def make_mandelbrot(xmin, xmax, xn, ymin, ymax, yn, maxiter, horizon):
    return xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon


def acceleration(pos, mass, G, softening):
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = (dx**2 + dy**2 + dz**2 + softening**2)
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0]**(-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass, G):
    kinetic = 0.5 * np.sum(mass * vel**2)
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    potential = G * np.sum(np.triu(-(mass * mass.T) * inv_r, 1))
    return kinetic, potential


def nbody(mass, pos, vel, N, Nt, dt, G, softening):
    """Particles under gravity by leapfrog steps."""
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, G, softening)
    KE = np.ndarray(Nt + 1, dtype=np.float64)
    PE = np.ndarray(Nt + 1, dtype=np.float64)
    KE[0], PE[0] = energy(pos, vel, mass, G)
    t = 0.0
    for i in range(Nt):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, G, softening)
        vel += acc * dt / 2.0
        t += dt
        KE[i + 1], PE[i + 1] = energy(pos, vel, mass, G)
    return KE, PE


def make_nbody(N, tEnd, dt, softening, G):
    rng = np.random.default_rng(42)
    mass, steps = 20.0 * np.ones((N, 1)) / N, int(np.ceil(tEnd / dt))
    return mass, rng.random((N, 3)), rng.random((N, 3)), N, steps, dt, G, softening


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neigh_idx.shape[0]):
                                for b in range(neigh_idx.shape[1]):
                                    if E - w >= 0:
                                        dHG = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                        dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                        Sigma[k, E, a] += dHG @ dHD


def make_scattering_self_energies(Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    rng = np.random.default_rng(42)
    neighbours = (np.arange(NA)[:, None] + np.arange(NB) - NB // 2) % NA
    return (neighbours.astype(np.int32), make_complex(rng, NA, NB, N3D, Norb, Norb),
            make_complex(rng, Nkz, NE, NA, Norb, Norb), make_complex(rng, Nqz, Nw, NA, NB, N3D, N3D),
            np.zeros((Nkz, NE, NA, Norb, Norb), dtype=np.complex128))


def stockham_fft(N, R, K, x, y):
    """Fourier transform of length N = R**K without bit reversal."""
    i_coord, j_coord = np.mgrid[0:R, 0:R]
    dft_mat = np.empty((R, R), dtype=np.complex128)
    dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / R)
    y[:] = x[:]
    ii_coord, jj_coord = np.mgrid[0:R, 0:R**K]
    for i in range(K):
        yv = np.reshape(y, (R**i, R, R**(K - i - 1)))
        permuted = np.transpose(yv, axes=(1, 0, 2))
        D = np.empty((R, R**i, R**(K - i - 1)), dtype=np.complex128)
        tmp = np.exp(-2.0j * np.pi * ii_coord[:, :R**i] * jj_coord[:, :R**i] / R**(i + 1))
        D[:] = np.repeat(np.reshape(tmp, (R, R**i, 1)), R**(K - i - 1), axis=2)
        twiddled = np.reshape(permuted, (N,)) * np.reshape(D, (N,))
        y[:] = np.reshape(dft_mat @ np.reshape(twiddled, (R, R**(K - 1))), (N,))


def make_stockham_fft(R, K):
    x = make_complex(np.random.default_rng(42), R**K)
    return R**K, R, K, x, np.zeros_like(x)


KERNELS = (
    Kernel(contour_integral, make_contour_integral, dict(NR=50, NM=150, slab_per_bc=2, num_int_pts=32),
           dict(NR=4, NM=6, slab_per_bc=2, num_int_pts=5)),
    Kernel(mandelbrot1, make_mandelbrot, dict(xmin=-1.75, xmax=0.25, xn=125, ymin=-1.0, ymax=1.0, yn=125, maxiter=60,
                                              horizon=2.0),
           dict(xmin=-1.75, xmax=0.25, xn=9, ymin=-1.0, ymax=1.0, yn=8, maxiter=6, horizon=2.0)),
    Kernel(mandelbrot2, make_mandelbrot, dict(xmin=-2.0, xmax=0.5, xn=200, ymin=-1.25, ymax=1.25, yn=200, maxiter=40,
                                              horizon=2.0),
           dict(xmin=-2.0, xmax=0.5, xn=9, ymin=-1.25, ymax=1.25, yn=8, maxiter=6, horizon=2.0)),
    Kernel(nbody, make_nbody, dict(N=25, tEnd=2.0, dt=0.05, softening=0.1, G=1.0),
           dict(N=4, tEnd=0.2, dt=0.05, softening=0.1, G=1.0), ("pos", "vel"),
           rtol=1e-6),  # chaotic: after the 40 steps a difference of 1e-16 has grown to 5e-8
    Kernel(scattering_self_energies, make_scattering_self_energies,
           dict(Nkz=2, NE=4, Nqz=2, Nw=2, N3D=2, NA=6, NB=2, Norb=3),
           dict(Nkz=1, NE=2, Nqz=1, Nw=2, N3D=2, NA=3, NB=2, Norb=2), ("Sigma",)),
    Kernel(stockham_fft, make_stockham_fft, dict(R=2, K=15), dict(R=2, K=3), ("y",)),
)
