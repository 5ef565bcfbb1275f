// transpose of kernels.py
#define TILE 16

extern "C" __global__ void transpose(const float *a, long long rows, long long columns, float *out, long long out_rows, long long out_columns)
{
    __shared__ float tile[TILE][TILE + 1];
    long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    if (y < rows && x < columns)
        tile[threadIdx.y][threadIdx.x] = a[y * columns + x];
    __syncthreads();
    x = (long long)blockIdx.y * TILE + threadIdx.x;
    y = (long long)blockIdx.x * TILE + threadIdx.y;
    if (y < out_rows && x < out_columns)
        out[y * out_columns + x] = tile[threadIdx.x][threadIdx.y];
}
