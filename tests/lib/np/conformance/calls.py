"""How each NumPy callable is called in its test. Most calls are made from the callable's own signature: its required
parameters by name from ARGUMENTS, then one call for each value in KEYWORDS of each parameter with a default. A line in
one of the tables below says it where names are not enough: argument lists, separated by `;`; one that begins with `=`
is a whole expression. The variables are those of inputs.py.
"""
import numpy as np

__all__ = ["ARGUMENTS", "KEYWORDS", "TABLES", "HEAVY", "NOT_CALLED", "DOCUMENTED", "SHORT_OF_A_ROW", "UFUNC_KEYWORDS",
           "UNARY", "BINARY", "METHODS_OF_UFUNCS"]


def table(text):
    rows = (line.split(":", 1) for line in text.strip().splitlines())
    return {name.strip(): [part.strip() for part in rest.split(" ; ")] for name, rest in rows}


ARGUMENTS = table("""
a: a
b: b
x: a
y: b
m: a
ary: a
arr: a
ar: v
array: a
val: a
z: a
p: v
f: a
xi: *(v, w)
arys: a
prototype: a
object: a
a1: v
a2: w
ar1: v
ar2: w
u: v
v: w
x1: a
x2: b
A: a
M: n
arrays: (a, b)
tup: (a, b)
shape: (3, 4)
dtype: np.float32
n: n
element: a
test_elements: b
condition: mask
mask: mask
indices: i
start: 1
stop: 9
axis: 0
axis1: 0
axis2: 1
filt: v
dims: (3, 4)
size: (2, 3)
type1: np.int8
type2: np.float32
shift: 2
repeats: 2
""")

KEYWORDS = table("""
axis: 0 ; -1 ; None ; 5 ; (0, 1)
axes: None
keepdims: True
where: mask
initial: 1
dtype: np.float32 ; np.int64
ddof: 1
correction: 1
out: o
order: 'C' ; 'F'
copy: True
casting: 'unsafe' ; 'no'
subok: False
device: 'cpu'
mode: None
kind: 'stable'
offset: 1 ; -1
k: 1 ; -2
decimals: 1 ; -1
deg: True
rtol: 0.5
atol: 0.5
equal_nan: True
num: 5
endpoint: False
retstep: True
base: 2.0
size: 5 ; (2, 3)
loc: 1.5 ; v
scale: 2.0 ; abs(v)
lam: 3.5 ; 40.0
mean: 0.5
sigma: 0.5
low: 0.5
high: 4.0
N: 4
side: 'right'
right: True
norm: 'ortho' ; 'forward'
n: 3 ; 8
UPLO: 'U'
full_matrices: False
compute_uv: False
hermitian: True
upper: True
return_index: True
return_inverse: True
return_counts: True
assume_unique: True
invert: True
weights: None
returned: True
density: True
bins: 4
range: (-1.0, 3.0)
bitorder: 'little'
sparse: True
indexing: 'ij'
rowvar: False
bias: True
method: 'linear' ; 'lower' ; 'nearest' ; 'median_unbiased'
overwrite_input: False
stable: True
include_initial: True
prepend: 0
append: 0
nan: 1.0
posinf: 2.0
neginf: -2.0
increasing: True
left: -1.0
period: 4.0
wrap: True
trim: 'f'
edge_order: 2
""")

# -- ufuncs

UNARY = ["a", "s", "v[0], o", "a.T"]
BINARY = ["a, b", "a, s", "a, 2", "a, b[0]", "b[0], a", "s, s", "1, a"]
UFUNC_KEYWORDS = ["out=o", "out=t", "where=mask, out=o", "dtype=np.float64", "dtype=np.float32, casting='unsafe'",
                  "casting='no'", "order='F'", "subok=False"]
METHODS_OF_UFUNCS = table("""
reduce: a ; a, axis=1 ; a, axis=None ; a, axis=(0, 1) ; a, axis=-1, keepdims=True ; a, initial=s ; a, where=mask, initial=s ; a, dtype=np.float64 ; a, 0, None, o ; a, axis=7 ; v
accumulate: a ; a, axis=1 ; v ; a, dtype=np.float64 ; a, 0, None, o ; a, axis=7
reduceat: v, i ; a, i ; a, i, axis=1 ; v, i, 0, np.float64 ; v, [0, 2, 1] ; v, [9]
outer: a, v ; v, s ; s, v
at: = {f}.at(v, i, w[0]) ; = {f}.at(v, i, w[:3]) ; = {f}.at(a, (i, 1), s) ; = {f}.at(v, 1, 2)
""")

# -- the rest

NUMPY = table("""
all: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; v ; s
any: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; v ; s
amax: a ; a, where=mask, initial=s ; a, axis=(1, 0), keepdims=True ; v
amin: a ; a, where=mask, initial=s ; a, axis=(1, 0), keepdims=True ; v
max: a ; a, where=mask, initial=s ; a, axis=(1, 0), keepdims=True ; v
min: a ; a, where=mask, initial=s ; a, axis=(1, 0), keepdims=True ; v
nanmax: a ; a, where=mask, initial=s ; a, axis=(1, 0), keepdims=True ; v
nanmin: a ; a, where=mask, initial=s ; a, axis=(1, 0), keepdims=True ; v
sum: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; a, dtype=np.float64 ; v
prod: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; a, dtype=np.float64 ; v
allclose: a, b ; a, a ; a, b, 0.5, 0.5, True ; a, s
append: a, b ; a, b, axis=0 ; a, b, axis=-1 ; a, s
apply_along_axis: np.sum, 0, a ; np.sort, 1, a
apply_over_axes: np.sum, a, (0, 1) ; np.sum, a, 0
arange: n ; 2, 9 ; 2, 9, 3 ; 0.0, 1.0, 0.25 ; 9, 2, -2 ; 5, dtype=np.float32 ; 5, dtype=np.int8 ; start=1, stop=5 ; 5, like=None
argpartition: = np.take_along_axis(a, np.argpartition(a, 1), -1)[..., 1] ; = v[np.argpartition(v, 2)][2] ; = np.take_along_axis(a, np.argpartition(a, 1, axis=0), 0)[1] ; = np.ravel(a)[np.argpartition(a, 1, axis=None)][1] ; = v[np.argpartition(v, 2, kind='introselect')][2] ; = np.argpartition(a, 9) ; = v[np.argpartition(v, (0, 2))][2] ; = v[np.argpartition(v, 2, order=None)][2]
partition: = np.partition(a, 1)[..., 1] ; = np.partition(v, 2)[2] ; = np.partition(a, 1, axis=0)[1] ; = np.partition(a, 1, axis=None)[1] ; = np.partition(v, 2, kind='introselect')[2] ; = np.partition(a, 9) ; = np.partition(a, (0, 2))[..., 2] ; = np.partition(v, 2, order=None)[2]
argsort: a, kind='stable' ; = np.take_along_axis(a, np.argsort(a), -1) ; v ; a, axis=0, kind='stable' ; a, axis=None, kind='stable' ; a, kind='mergesort' ; = v[np.argsort(v, kind='heapsort')] ; v, order=None ; a, axis=5 ; a, stable=True
sort: a ; v ; a, axis=0 ; a, axis=None ; a, kind='stable' ; a, kind='heapsort' ; a, kind='mergesort' ; a, order=None ; a, axis=5 ; a, stable=True
array: a ; a, dtype=np.float32 ; a, copy=True ; a, copy=False ; a, copy=None ; a, order='F' ; a, order='C' ; a, subok=True ; a, ndmin=3 ; [1, 2, 3] ; [[1.0, 2.0], [3.0, 4.0]] ; (s, s) ; s ; [v, w] ; [1, 2], dtype=np.complex64
array2string: a
array_repr: a
array_str: a
array_equal: a, b ; a, a ; v, a ; a, a, equal_nan=True
array_equiv: a, b ; a, a ; v, a
array_split: v, 3 ; a, 2 ; a, 2, axis=1 ; v, [1, 3]
asarray: a ; s ; [1, 2, 3] ; a, dtype=np.float32 ; a, order='F' ; a, copy=True ; a, device='cpu' ; (s, s) ; a, np.float64
asanyarray: a ; s ; [1, 2, 3] ; a, dtype=np.float32 ; a, order='F' ; a, copy=True
ascontiguousarray: a ; s ; [1, 2, 3] ; a, dtype=np.float32
asfortranarray: a ; s ; [1, 2, 3] ; a, dtype=np.float32
asarray_chkfinite: a ; a, dtype=np.float64 ; [1.0, 2.0]
asmatrix: a
astype: a, np.float64 ; a, np.int32 ; a, np.complex128, copy=False
atleast_1d: a ; s ; a, v
atleast_2d: a ; s ; v ; a, v
atleast_3d: a ; s ; v ; a, v
average: a ; a, axis=0 ; a, axis=1, weights=w[:4] ; a, axis=1, weights=w[:2] ; a, weights=abs(b) + 1 ; v, weights=abs(w) + 1 ; v, weights=abs(w) + 1, returned=True ; a, keepdims=True
bartlett: n ; 7 ; 1 ; 0
blackman: n ; 7 ; 1 ; 0
hamming: n ; 7 ; 1 ; 0
hanning: n ; 7 ; 1 ; 0
kaiser: n, 2.0 ; 7, 14.0 ; 1, 2.0 ; 0, 2.0
base_repr: 5
binary_repr: 5
bincount: p ; p, minlength=12 ; p, abs(x[:1]) ; p, q ; p, q, 3
block: [[a, b], [b, a]] ; [v, w] ; [a]
bmat: [[a, b], [b, a]]
broadcast_arrays: a, b[:1] ; a, v[:1]
broadcast_shapes: (3, 1), (1, 4) ; (3,), (2, 3) ; (3,), (4,)
broadcast_to: v[:1], (3, 2) ; a, (2, 3, 4) ; s, (2, 3) ; v, 9 ; v, (2, 2)
busday_count: np.datetime64('2024-01-01'), np.datetime64('2024-03-01')
busday_offset: np.datetime64('2024-01-01'), 3
can_cast: np.int8, np.float32 ; np.float64, np.int32, 'same_kind' ; 'f4', 'i4' ; a.dtype, np.float64 ; np.float64, np.float32, casting='unsafe'
choose: i, (v[:1], w[:1]) ; i, (v[:1], w[:1], v[:1]), mode='wrap' ; i, (v[:1], w[:1]), mode='clip' ; i, (v[:1], w[:1]), o
clip: a, s, 2 ; a, None, 1 ; a, 0, None ; a, -1, 1, o ; a, min=0 ; a, max=0 ; a, b, b + 1 ; a, a_min=0, a_max=1 ; s, 0, 1
column_stack: (v, w) ; (a, b) ; (v, w, v)
common_type: a ; a, v
compress: mask1, v ; mask1, a, axis=0 ; mask1, a ; [True, False, True], a, axis=1 ; mask1, v, out=v[:2]
concat: (a, b) ; (a, b), axis=1 ; (a, b), axis=None ; (v, w) ; (a, b), 5 ; (a, b), dtype=np.float64 ; (a, b), dtype=np.float32, casting='unsafe' ; (a, b), out=o ; [a, b] ; (v, a)
concatenate: (a, b) ; (a, b), axis=1 ; (a, b), axis=None ; (v, w) ; (a, b), 5 ; (a, b), dtype=np.float64 ; (a, b), dtype=np.float32, casting='unsafe' ; (a, b), out=o ; [a, b] ; (v, a)
convolve: v, w ; v, w[:2], mode='same' ; v, w, mode='valid' ; v, w, 'nosuch' ; a, v
correlate: v, w ; v, w[:2], mode='same' ; v, w, mode='full' ; v, w, 'nosuch' ; a, v
copyto: = np.copyto(a, b) ; = np.copyto(a, s) ; = np.copyto(a, b, where=mask) ; = np.copyto(a, b, casting='no') ; = np.copyto(a, v)
corrcoef: a ; v, w ; a, rowvar=False ; a, dtype=np.float64
cov: a ; v, w ; a, rowvar=False ; a, bias=True ; a, ddof=0 ; a, dtype=np.float64 ; a, aweights=abs(a[0].real) + 1
count_nonzero: a ; a, axis=0 ; a, axis=-1, keepdims=True ; a, axis=(0, 1) ; a, axis=5
cross: c3, d3 ; v[:3], w[:3] ; c3, d3, axis=0 ; c3, d3, axisa=-1, axisb=-1, axisc=0
datetime_as_string: np.datetime64('2024-01-06') ; i.astype('M8[D]') ; a
datetime_data: a.dtype ; np.dtype('M8[3D]')
is_busday: np.datetime64('2024-01-06')
isnat: a ; np.datetime64('NaT') ; i.astype('M8[D]')
delete: v, 1 ; a, 0, axis=1 ; a, 0, axis=0 ; v, i ; v, slice(0, 2) ; a, [0, 2], axis=1 ; a, 1 ; v, 99 ; v, mask1
diag: v ; a ; v, 1 ; a, -1 ; m, k=1
diagflat: v ; a ; v, k=-1
diag_indices: n ; 3, 3
diag_indices_from: m
diff: a ; v ; v, 2 ; a, axis=0 ; a, axis=-1 ; v, 0 ; v, prepend=s ; v, append=w ; a, axis=5 ; v, -1
digitize: v, t1 ; a, t1 ; v, t1, right=True ; s, t1
dot: m, h ; v, w ; a, v[:4] ; a, b.T ; s, a ; m, h, o ; a, b ; a[:, 0], a
dsplit: a3, 2 ; a3, [1, 3]
hsplit: a, 2 ; v, [1, 3] ; a, [1]
vsplit: a, 3 ; a, [1]
split: v, [1, 3] ; a, 2, axis=1 ; a, 3 ; v, 4 ; a, [1], axis=0
dstack: (a, b) ; (v, w)
hstack: (a, b) ; (v, w) ; [a, b] ; (a, b), dtype=np.float64 ; (a, b), dtype=np.float32, casting='unsafe'
vstack: (a, b) ; (v, w) ; [a, b] ; (a, b), dtype=np.float64 ; (a, b), dtype=np.float32, casting='unsafe'
row_stack: (a, b) ; (v, w)
stack: (a, b) ; (a, b), axis=1 ; (a, b), axis=-1 ; (v, w) ; (a, b), 5 ; [a, b] ; (a, b), out=o ; (a, b), dtype=np.float64 ; (a, b), casting='no' ; (v, a)
ediff1d: a ; v, to_end=w ; v, to_begin=w ; v, s, s
einsum: 'ij,jk', m, h ; 'ij->ji', a ; 'ii', m ; 'i,i', v, w ; 'i,j->ij', v, w ; '...i->...', a ; 'ij,ij->i', a, b ; 'ij', a, out=o ; 'ij,jk', m, h, optimize=True
einsum_path: 'ij,jk', m, h
empty: = np.empty((3, 4)).shape ; = np.empty(3, np.int8).dtype ; = np.empty((2, 3), dtype=np.float32, order='F').strides ; = np.empty(n).shape ; = np.empty((-1, 2)) ; = np.empty(3, device='cpu').shape ; = np.empty(3, like=None).shape
empty_like: = np.empty_like(a).shape ; = np.empty_like(a, dtype=np.int8).dtype ; = np.empty_like(a, order='F').shape ; = np.empty_like(a, subok=False).shape ; = np.empty_like(a, shape=(2, 2)).shape ; = np.empty_like(a, device='cpu').shape
expand_dims: a, 0 ; a, -1 ; a, (0, 2) ; a, 7
extract: mask, a ; mask1, v
eye: 3 ; 3, 4 ; 3, k=1 ; 3, dtype=np.int8 ; n, order='F' ; 3, device='cpu' ; 3, like=None
fill_diagonal: = np.fill_diagonal(a, s) ; = np.fill_diagonal(m, 2, True) ; = np.fill_diagonal(v, s) ; = np.fill_diagonal(m, v)
fix: a ; s ; a, o
flip: a ; a, 0 ; a, (0, 1) ; a, 5 ; v ; a, axis=None
format_float_positional: 0.5
format_float_scientific: 0.5
from_dlpack: a
frombuffer: b'12345678'
fromfile: 'nosuch'
fromfunction: lambda i, j: i + j, (3, 4) ; lambda i, j: i + j, (3, 4), dtype=np.int64
fromiter: v, np.float64 ; range(5), np.int64 ; v, dtype=np.float64, count=2
frompyfunc: max, 2, 1
fromregex: 'nosuch', 'x', np.float64
fromstring: '1 2', sep=' '
full: (3, 4), s ; n, 2 ; (2, 3), 1.5, np.int8 ; (2, 3), 1, dtype=np.float32, order='F' ; 3, s, device='cpu' ; 3, s, like=None ; (3, 2), v[:2]
full_like: a, s ; a, 2 ; a, 1.5, np.float32 ; a, 2, order='F' ; a, 2, subok=False ; a, 2, shape=(2, 2) ; a, 2, device='cpu'
genfromtxt: 'nosuch'
geomspace: 1, 1000 ; 1.0, 8.0, 4 ; 1, 256, num=9, endpoint=False ; -1.0, -8.0, 4 ; 1, 1000, dtype=np.int64 ; v[:1] + 100, 1000.0, 3 ; 1, 8, axis=0
gradient: a ; v ; v, 2.0 ; v, t1 ; a, axis=0 ; a, axis=(0, 1) ; a, 1.0, 2.0 ; v, edge_order=2 ; a, axis=5
histogram: v ; a ; v, 5 ; v, t1 ; v, bins=4, range=(-1.0, 3.0) ; v, density=True ; v, weights=w ; v, 'auto'
histogram_bin_edges: v ; a ; v, 5 ; v, t1 ; v, bins=4, range=(-1.0, 3.0) ; v, 'auto' ; v, 'sturges'
histogram2d: v, w ; v, w, 4 ; v, w, (3, 4) ; v, w, [t1, t1] ; v, w, 3, density=True ; v, w, weights=w ; v, w, 3, [[-1, 1], [-2, 2]]
histogramdd: a ; a, 3 ; a, density=True ; (v, w)
i0: a ; s
identity: 3 ; n ; 3, np.int8 ; 3, like=None
indices: (2, 3) ; (2, 3), np.float64 ; (2, 3), sparse=True ; (2,)
inner: a, b ; v, w ; a, v[:4] ; s, a
insert: v, 1, s ; v, 1, w ; a, 1, s, axis=0 ; a, 1, s, axis=1 ; a, 1, s ; v, i, s ; v, [1, 2], w[:2] ; v, 99, s
interp: x, t1, t2 ; v, t1, t2 ; a, t1, t2 ; v, t1, t2, left=-1.0 ; v, t1, t2, right=9.0 ; v, t1, t2, period=4.0
intersect1d: v, w ; v, w, True ; v, w, return_indices=True ; a, v
isclose: a, b ; a, a ; a, b, 0.5 ; a, b, 0.5, 0.5 ; a, b, rtol=0.5 ; a, b, atol=0.5 ; a, a, equal_nan=True ; s, s ; a, s
isdtype: np.dtype(np.float64), 'real floating' ; a.dtype, ('integral', 'bool') ; a.dtype, np.float64
isin: a, w ; a, w, True ; a, w, invert=True ; a, w, kind='sort' ; s, w ; a, [1, 2] ; a, w, kind='table' ; a, w, assume_unique=False
isscalar: s ; a ; 2 ; 'text' ; None
issubdtype: np.float64, np.floating ; a.dtype, np.integer ; np.int8, np.number ; a.dtype, a.dtype
iterable: a ; 2
ix_: i, i ; mask1, i ; [0, 1], [1, 2] ; a, i
kron: a, b ; v, w ; m, v ; s, a
lexsort: (v, w) ; a ; (v, w, v) ; a, axis=0
linspace: 0, 1 ; 0.0, 1.0, 5 ; 1, 10, num=4 ; 0.0, 1.0, 5, endpoint=False ; 0, 9, retstep=True ; 0, 9, 4, dtype=np.int64 ; s, 9, 4 ; v, w, 3 ; v, w, 3, axis=1 ; 0, 1, 0 ; 0, 1, 1 ; 0, 1, device='cpu' ; 0, 1, -1
logspace: 0, 1 ; 0.0, 1.0, 5 ; 0, 3, num=4, base=2.0 ; 0.0, 1.0, 5, endpoint=False ; 0, 3, 4, dtype=np.int64 ; v, w, 3 ; 0, 1, axis=0
load: 'nosuch'
loadtxt: 'nosuch'
mask_indices: 3, np.triu ; 3, np.tril, 1
mean: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; a, dtype=np.float64 ; v ; s
std: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; a, dtype=np.float64 ; v ; a, ddof=1 ; s
var: a ; a, where=mask ; a, axis=(0, 1), keepdims=True ; a, dtype=np.float64 ; v ; a, ddof=1 ; s
median: a ; v ; a, axis=0 ; a, axis=(0, 1) ; a, axis=-1, keepdims=True
meshgrid: v, w ; v, w, indexing='ij' ; v, w, sparse=True ; v, w, copy=False ; v, w, v ; v
min_scalar_type: s ; a ; 5 ; -300 ; 1.5
mintypecode: 'fd'
moveaxis: a, 0, 1 ; a3, 0, -1 ; a3, (0, 1), (1, 2) ; a, 0, 9
nan_to_num: a ; s ; a, nan=1.0 ; a, posinf=2.0 ; a, neginf=-2.0 ; a, copy=False
nanpercentile: a, 50 ; v, [25, 75] ; a, 50, axis=0 ; a, 50, axis=-1, keepdims=True ; v, x
nanquantile: a, 0.5 ; v, [0.25, 0.75] ; a, 0.5, axis=0 ; a, 0.5, axis=-1, keepdims=True ; v, x
percentile: a, 50 ; v, [25, 75] ; a, 50, axis=0 ; a, 50, axis=-1, keepdims=True ; v, x ; v, 101
quantile: a, 0.5 ; v, [0.25, 0.75] ; a, 0.5, axis=0 ; a, 0.5, axis=-1, keepdims=True ; v, x ; v, 1.5
nested_iters: a, [[0], [1]]
ones: (3, 4) ; n ; (2, 3), np.int8 ; (2, 3), dtype=np.float32, order='F' ; 3, device='cpu' ; 3, like=None ; -1
zeros: (3, 4) ; n ; (2, 3), np.int8 ; (2, 3), dtype=np.float32, order='F' ; 3, device='cpu' ; 3, like=None ; -1
outer: v, w ; a, b ; v, s ; v, w, o
packbits: mask ; p ; mask, axis=0 ; mask, axis=-1, bitorder='little'
unpackbits: = np.unpackbits(p.astype(np.uint8)) ; = np.unpackbits(p.astype(np.uint8), axis=0) ; = np.unpackbits(p.astype(np.uint8), count=5) ; = np.unpackbits(p.astype(np.uint8), bitorder='little')
pad: v, 2 ; a, 1 ; v, (1, 2) ; a, ((1, 2), (0, 1)) ; v, 2, 'edge' ; v, 2, 'reflect' ; v, 2, 'symmetric' ; v, 2, 'wrap' ; v, 2, 'linear_ramp' ; v, 2, 'maximum' ; v, 2, 'mean' ; v, 2, 'median' ; v, 2, 'minimum' ; v, 2, 'constant', constant_values=s ; = np.pad(v, 2, mode='empty').shape
permute_dims: a ; a, (1, 0) ; a3, (2, 0, 1) ; a3, axes=(0, 2, 1)
piecewise: v, [v < 0, v >= 0], [-1, 1] ; v, [v > 0], [2, 3]
place: = np.place(a, mask, v) ; = np.place(a, mask, [1, 2])
poly: v ; m ; [1.0, 2.0]
polyadd: v, w ; v, w[:2] ; [1, 2], v
polysub: v, w ; v, w[:2] ; [1, 2], v
polymul: v, w ; v, w[:2] ; [1, 2], v
polydiv: v, w[:2] ; [1.0, 5.0, 6.0], [1.0, 2.0]
polyder: v ; v, 2 ; v, m=0
polyint: v ; v, 2 ; v, k=1.0
polyfit: t1, t2, 1 ; t1, t2, 2 ; t1, t2, 1, rcond=1e-9 ; t1, t2, 1, full=True ; t1, t2, 1, w=t2 + 2 ; t1, t2, 1, cov=True
polyval: v, x ; v, w ; v, a ; v, 2
promote_types: np.int8, np.float32 ; a.dtype, np.int16 ; 'f4', 'i8'
put: = np.put(a, i, v[:1]) ; = np.put(v, [0, 1], s) ; = np.put(v, [99], s) ; = np.put(v, [99], s, mode='clip') ; = np.put(v, [99], s, 'wrap')
put_along_axis: = np.put_along_axis(a, i2, s, 1) ; = np.put_along_axis(v, i, s, 0) ; = np.put_along_axis(v, i, s, None)
putmask: = np.putmask(a, mask, v[:1]) ; = np.putmask(a, mask, s)
ravel: a ; v ; a, 'F' ; a, order='C' ; a, order='K' ; a, order='A'
ravel_multi_index: (i, i), (3, 3) ; (i, i), (3, 3), mode='wrap' ; (i, i), (3, 3), order='F' ; (1, 2), (3, 4) ; (i, i), (1, 1)
real_if_close: a ; a, tol=10
repeat: a, 2 ; v, 2 ; a, 2, axis=0 ; a, 2, axis=1 ; v[:3], i ; v[:3], [1, 2, 0] ; a, 2, 5
require: a ; a, np.float64 ; a, requirements='C' ; a, requirements=['C', 'O']
reshape: a, -1 ; a, (4, 3) ; a, (2, -1) ; a, (4, 3), order='F' ; a, (4, 3), copy=True ; a, 12 ; a, (5, 5) ; a, (4, 3), order='A' ; a, [4, 3]
resize: a, (2, 2) ; v, 7 ; a, (5, 5)
result_type: a, v ; a, np.float32 ; s, 2.0 ; np.int8, np.uint8 ; a.dtype, 1j
roll: a, 2 ; a, 1, axis=0 ; a, -1, axis=1 ; a, (1, 2), axis=(0, 1) ; v, 7 ; a, 1, axis=5
rollaxis: a3, 2 ; a, 1 ; a3, 0, 2
roots: v ; [1.0, 5.0, 6.0] ; [0.0, 1.0]
rot90: a ; a, 2 ; a, k=-1 ; a3, 1, (1, 2) ; a, 3
save: 'nosuch/x', a
savetxt: 'nosuch/x', a
savez: 'nosuch/x', a
savez_compressed: 'nosuch/x', a
searchsorted: t1, v ; t1, a ; t1, s ; t1, v, side='right' ; t1, x ; v, w, sorter=np.argsort(v) ; np.sort(v), w
select: (mask1, v > 0), (v, w) ; [v > 1, v > 0], [v, w], 9 ; (mask1,), (v,), default=s
setdiff1d: v, w ; v, w, True ; a, v
shape: a ; s ; v
ndim: a ; s ; v
size: a ; a, 0 ; a, axis=-1 ; s ; a, axis=5
squeeze: a[:1] ; a[:1], 0 ; a[:1, :1] ; a[:1], axis=(0,) ; a, 0
swapaxes: a, 0, 1 ; a3, 0, -1 ; a, 0, 9
take: a, i ; a, i, axis=0 ; a, i, axis=1 ; v, 1 ; v, i2 ; v, [0, 1] ; v, [99] ; v, [99], mode='clip' ; v, [99], mode='wrap' ; v, i, None, o
take_along_axis: a, i2, 1 ; v, i, 0 ; a, i2, axis=-1 ; a, i, None
tensordot: a, b.T, 1 ; a3, a3, 3 ; a3, a3, ((0, 1), (0, 1)) ; m, h ; a, b, axes=0
tile: a, 2 ; v, (2, 2) ; a, (2, 1, 2) ; v, 0 ; s, 3
trace: m ; a ; a, 1 ; a, offset=-1 ; a3, 0, 1, 2 ; a, dtype=np.float64 ; a3, axis1=0, axis2=2
transpose: a ; a3 ; a3, (2, 0, 1) ; a, axes=(1, 0) ; v ; a, (0, 0)
trapezoid: a ; v ; v, w ; v, dx=0.5 ; a, axis=0
tri: 3 ; 3, 4 ; 3, k=1 ; n, dtype=np.int8 ; 3, like=None
tril_indices: 3 ; 3, 1 ; n, m=4
triu_indices: 3 ; 3, 1 ; n, m=4
tril_indices_from: a ; m, 1
triu_indices_from: a ; m, 1
trim_zeros: v ; np.array([0.0, 0.0, 1.0, 0.0]) ; np.array([0.0, 1.0, 0.0]), 'f' ; np.array([0, 1, 0]), 'b'
typename: 'd'
unique: v ; a ; v, return_index=True ; v, return_inverse=True ; v, return_counts=True ; v, True, True, True ; a, axis=0 ; v, equal_nan=False ; v, sorted=True
unique_all: v ; a
unique_counts: v ; a
unique_inverse: v ; a
unique_values: = np.sort(np.unique_values(v)) ; = np.sort(np.unique_values(a))
unravel_index: i, (3, 4) ; 5, (3, 4) ; i, (3, 4), order='F' ; 99, (3, 4) ; i, 9
unstack: a ; a, axis=1
vander: v ; v, 3 ; v, increasing=True
vdot: v, w ; a, b ; s, s ; a, v
where: mask, a, b ; mask ; mask, a, s ; mask, 1, 2.5 ; mask1, s, v ; mask, a
""")

LINALG = table("""
matrix_power: m, 3 ; m, -1 ; m, 0 ; m, n ; a, 2
solve: h, v3 ; h, m ; m, v3 ; m, a ; s3, s3
tensorsolve: m, v3
tensorinv: m, ind=1
inv: h ; m ; s3 ; a
cholesky: h ; h, upper=True ; s3 ; m
eigvals: m ; s3 ; a
eigvalsh: h ; s3 ; h, 'U'
eig: m ; s3 ; a
eigh: h ; s3 ; h, UPLO='U' ; a
pinv: m ; a ; h, hermitian=True ; a, rcond=1e-3 ; a, rtol=1e-3
slogdet: m ; s3 ; a
det: m ; s3 ; a
svd: = np.linalg.svd(a)[1] ; = np.linalg.svd(a, full_matrices=False)[1] ; a, compute_uv=False ; h, hermitian=True, compute_uv=False ; s3, compute_uv=False
svdvals: a ; s3
lstsq: a, v3 ; a, v3, None ; a, m ; a, v3, rcond=1e-3
norm: v ; a ; a, 'fro' ; a, 1 ; a, np.inf ; a, 2 ; v, 3 ; v, 0 ; a, axis=0 ; a, axis=(0, 1) ; v, -np.inf ; a, 'nuc' ; a, axis=1, keepdims=True
qr: a ; a, mode='complete' ; a, mode='r' ; a, 'raw' ; s3
cond: h ; m ; h, 'fro' ; h, p=1
matrix_rank: a ; v ; s3 ; a, tol=1e-3 ; h, hermitian=True ; a, rtol=1e-3
multi_dot: (m, h) ; (m, h, m) ; (v3, m, v3) ; [m, h] ; (m, h), out=o
trace: m ; a3 ; a, offset=1 ; m, dtype=np.float64
diagonal: m ; a3 ; a, offset=1
cross: c3, d3 ; v3, v3 ; c3.T, d3.T, axis=0
outer: v, w
tensordot: a, b.T, axes=1 ; m, h ; a3, a3, axes=((0, 1), (0, 1))
matmul: m, h ; a, v[:4] ; v, w ; a3, a3.transpose((0, 2, 1))
matrix_transpose: a ; a3 ; v
matrix_norm: a ; a3 ; a, ord=1 ; a, keepdims=True ; a, ord='nuc'
vector_norm: v ; a ; a, axis=0 ; a, axis=-1, keepdims=True ; a, ord=1 ; a, ord=np.inf ; a, ord=3
vecdot: v, w ; a, b ; a, b, axis=0 ; a, v[:4]
""")

FFT = {name: [arguments]
       for name, arguments in [(name, "v") for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")]}
for _calls in FFT.values():
    _calls += ["a", "a, axis=0", "v, 3", "v, n=8", "v, norm='ortho'", "v, norm='forward'", "v, n=0", "v, out=o",
               "v, norm='nosuch'"]
FFT.update({name: ["a", "a, (2, 4)", "a, axes=(1, 0)", "a, axes=(0,)", "a, norm='ortho'", "a3", "v", "a, out=o"]
            for name in (
    "fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")})
FFT.update(table("""
fftshift: a ; v ; a, axes=0 ; a, (0, 1)
ifftshift: a ; v ; a, axes=0 ; a, (0, 1)
fftfreq: n ; 8, 0.5 ; 7, d=0.1 ; 8, device='cpu'
rfftfreq: n ; 8, 0.5 ; 7, d=0.1 ; 8, device='cpu'
"""))

_DISTRIBUTIONS = table("""
beta: 2.0, 3.0 ; 0.5, 0.5 ; -1.0, 2.0
binomial: 10, 0.3 ; 200, 0.5 ; 10, 2.0
bytes: 5
chisquare: 3.0
dirichlet: (1.0, 2.0, 3.0) ; t2
exponential: ; x ; -1.0
f: 3.0, 4.0
gamma: 2.0 ; 0.5 ; 2.0, 3.0
geometric: 0.3 ; 0.01
hypergeometric: 10, 15, 7 ; 30, 20, 20
logseries: 0.5
multinomial: 20, (0.2, 0.3, 0.5)
multivariate_normal: v3, hd
negative_binomial: 5, 0.4 ; 2.5, 0.4
noncentral_chisquare: 3.0, 1.5
noncentral_f: 3.0, 4.0, 1.5
pareto: 2.5
power: 2.5
standard_gamma: 2.0 ; 0.5
standard_t: 4.0
triangular: -1.0, 0.5, 2.0
vonmises: 0.5, 3.0 ; 0.5, 1e-9
wald: 1.0, 2.0
weibull: 1.5
zipf: 2.5
""")
RANDOM = {**_DISTRIBUTIONS, **table("""
choice: 5 ; v ; v, 3 ; v, (2, 2) ; v, 3, False ; 5, 3, replace=False ; 3, 4, p=(0.2, 0.3, 0.5) ; v, 9, False
get_state: = np.random.get_state()[0] ; = np.random.get_state(legacy=False)['bit_generator']
permutation: 5 ; v ; a
rand: ; 3 ; 2, 3
randn: ; 3 ; 2, 3
randint: 5 ; 2, 9 ; 5, size=4 ; 2, 9, (2, 3) ; 5, size=4, dtype=np.int32 ; 5, size=3, dtype=np.uint8 ; 9, 2
random_integers: 5
seed: = (np.random.seed(3), np.random.random()) ; = (np.random.seed((1, 2)), np.random.random())
set_state: = (np.random.set_state(np.random.get_state()), np.random.random())
shuffle: = np.random.shuffle(v) ; = np.random.shuffle(a)
default_rng: = np.random.default_rng(3).random() ; = np.random.default_rng((1, 2)).random()
""")}
GENERATOR = {**_DISTRIBUTIONS, **table("""
choice: 5 ; v ; v, 3 ; v, (2, 2) ; v, 3, False ; 5, 3, replace=False ; 3, 4, p=(0.2, 0.3, 0.5) ; a, 2, axis=1 ; v, 3, False, shuffle=False ; v, 9, False
integers: 5 ; 2, 9 ; 5, size=4 ; 2, 9, (2, 3) ; 5, size=4, dtype=np.int32 ; 5, size=3, dtype=np.uint8 ; 2, 9, 5, endpoint=True ; 9, 2
multivariate_hypergeometric: (10, 15, 7), 5 ; (10, 15, 7), 5, 3 ; (10, 15, 7), 5, method='count'
multivariate_normal: v3, hd ; v3, hd, 2, method='cholesky'
permutation: 5 ; v ; a ; a, axis=1
permuted: v ; a, axis=0 ; a, axis=1 ; a ; v, out=o
random: ; 3 ; (2, 3) ; 3, dtype=np.float32 ; out=o
shuffle: = g.shuffle(v) ; = g.shuffle(a) ; = g.shuffle(a, axis=1)
spawn: = g.spawn(2)[1].random()
standard_exponential: ; 3 ; (2, 3) ; 3, np.float32 ; 3, method='inv' ; out=o
standard_gamma: 2.0 ; 0.5 ; 2.0, 3, np.float32 ; 2.0, out=o
standard_normal: ; 3 ; (2, 3) ; 3, np.float32 ; out=o
""")}

NDARRAY = {**{name: NUMPY[name] for name in ("all", "any", "max", "min", "sum", "prod", "mean", "std", "var")}}
NDARRAY = {name: ["= a." + name + "(" + call[1:].lstrip(", ") + ")" for call in calls if call == "a"
                  or call.startswith("a,")]
           for name, calls in NDARRAY.items()}
NDARRAY.update(table("""
argsort: = a.argsort(kind='stable') ; = v.argsort() ; = a.argsort(axis=0, kind='stable') ; = a.argsort(axis=None, kind='stable') ; = v[v.argsort(kind='heapsort')] ; = a.argsort(axis=5) ; = a.argsort(stable=True)
argpartition: = v[v.argpartition(2)][2] ; = np.take_along_axis(a, a.argpartition(1, axis=0), 0)[1] ; = v[v.argpartition(2, kind='introselect')][2] ; = a.argpartition(9)
astype: = a.astype(np.float64) ; = a.astype(np.int32) ; = a.astype('c16') ; = a.astype(np.float32, order='F') ; = a.astype(np.float64, casting='no') ; = a.astype(np.float32, casting='unsafe') ; = a.astype(np.float64, copy=False) ; = a.astype(np.float64, subok=False) ; = a.astype(bool) ; = a.astype(int)
byteswap: = a.byteswap() ; = a.byteswap(True)
choose: = i.choose((v[:1], w[:1])) ; = i.choose((v[:1], w[:1]), mode='clip')
clip: = a.clip(0, 1) ; = a.clip(min=0) ; = a.clip(0, 1, o) ; = a.clip(max=b)
compress: = v.compress(mask1) ; = a.compress(mask1, axis=0)
conj: = a.conj()
conjugate: = a.conjugate()
dot: = m.dot(h) ; = v.dot(w) ; = m.dot(h, o)
dump: = a.dump('nosuch/x')
dumps: = a.dumps()
fill: = a.fill(s) ; = a.fill(2)
flatten: = a.flatten() ; = a.flatten('F') ; = a.flatten(order='C')
getfield: = a.getfield(np.int8)
item: = v.item(1) ; = a.item(0, 1) ; = s.item() ; = v.item(99) ; = a[:1, :1].item() ; = a.item()
partition: = np.copy(v).partition(2) ; = np.copy(a).partition(1, axis=0) ; = np.copy(a).partition(1) ; = np.copy(a).partition(1, kind='introselect')
put: = a.put(i, s) ; = v.put([0, 1], w[:2]) ; = v.put([99], s, mode='clip')
repeat: = a.repeat(2) ; = a.repeat(2, axis=0)
reshape: = a.reshape(4, 3) ; = a.reshape((4, 3)) ; = a.reshape(-1) ; = a.reshape((4, 3), order='F') ; = a.reshape(5, 5) ; = a.reshape((4, 3), copy=True)
resize: = a.resize((2, 2)) ; = a.resize(2, 2)
round: = a.round() ; = a.round(1) ; = a.round(1, o) ; = a.round(decimals=-1)
searchsorted: = t1.searchsorted(v) ; = t1.searchsorted(v, 'right') ; = t1.searchsorted(s)
setfield: = a.setfield(1, np.int8)
setflags: = a.setflags(write=False)
sort: = a.sort() ; = v.sort() ; = a.sort(axis=0) ; = a.sort(kind='stable') ; = a.sort(5)
squeeze: = a[:1].squeeze() ; = a[:1].squeeze(0) ; = a[:1].squeeze(axis=0)
swapaxes: = a.swapaxes(0, 1) ; = a3.swapaxes(0, -1)
take: = a.take(i) ; = a.take(i, axis=0) ; = v.take([99]) ; = v.take([99], mode='clip') ; = v.take(i, None, o)
to_device: = a.to_device('cpu')
tobytes: = a.tobytes()
tofile: = a.tofile('nosuch/x')
tolist: = a.tolist() ; = v.tolist()
trace: = m.trace() ; = a.trace(1) ; = a3.trace(0, 1, 2) ; = m.trace(dtype=np.float64)
transpose: = a.transpose() ; = a.transpose(1, 0) ; = a3.transpose((2, 0, 1))
view: = a.view() ; = a.view(np.uint8) ; = a.view(a.dtype)
"""))


TABLES = {"numpy": NUMPY, "linalg": LINALG, "fft": FFT, "random": RANDOM,
          "Generator": GENERATOR, "ndarray": NDARRAY}

# Calls with known differences, and a text for each: docs/semantics.md lists it, or NumPy's result is not defined.
DOCUMENTED = {
    "np.power(a, s)": "",  # NumPy takes roots for the exponent 0.5
    **{f"np.fft.{f}(v, {n})": "v: (0,)" for f in ("hfft", "irfft") for n in ("3", "n=8")},
    "np.asfortranarray(a)": "writeable False against True", "np.tile(a, 2)": "writeable False against True",
    **{f"np.polyval(v, {x})": "v: (0,)" for x in ("x", "w", "a", "2")},
    "np.polydiv(v, w[:2])": "v: (1,)",  # the remainder is rounding error
}

# NumPy's loops for AVX-512 use the first and the last element only.
_ROW = np.array([2.0, 3.0, 2.0, 0.5])
SHORT_OF_A_ROW = tuple(f"np.{f.__name__}.reduce" for f in (np.power, np.arctan2)
                       if f.reduce(_ROW) != f.accumulate(_ROW)[-1])

# Names that are not called, because their effects do not belong in a test.
NOT_CALLED = {
    "test": "runs NumPy's own tests",
    **dict.fromkeys(("set_printoptions", "setbufsize", "seterr", "seterrcall"), "changes the process"),
    **dict.fromkeys(("info", "show_config", "show_runtime"), "prints"),
}

# Names with much code, which are called with few types.
HEAVY = set("""einsum tensordot histogram histogram2d histogramdd histogram_bin_edges quantile percentile nanquantile nanpercentile median nanmedian cov corrcoef
unique union1d setxor1d intersect1d setdiff1d isin lexsort roots polyfit gradient pad block kron cross unwrap interp""".split())
