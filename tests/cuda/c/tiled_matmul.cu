// tiled_matmul of kernels.py
#define TILE 16

extern "C" __global__ void tiled_matmul(const double *a, long long a_rows, long long a_columns, const double *b, long long b_rows, long long b_columns,
                                        double *c, long long c_rows, long long c_columns)
{
    __shared__ double left[TILE][TILE], right[TILE][TILE];
    long long tx = threadIdx.x, ty = threadIdx.y;
    long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    double total = 0.0;
    for (long long k = 0; k < a_columns; k += TILE) {
        left[ty][tx] = y < a_rows && k + tx < a_columns ? a[y * a_columns + k + tx] : 0.0;
        right[ty][tx] = x < b_columns && k + ty < b_rows ? b[(k + ty) * b_columns + x] : 0.0;
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            total += left[ty][j] * right[j][tx];
        __syncthreads();
    }
    if (y < c_rows && x < c_columns)
        c[y * c_columns + x] = total;
}
