// saxpy of kernels.py
extern "C" __global__ void saxpy(float a, const float *x, long long nx, float *y, long long ny)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx)
        y[i] = a * x[i] + y[i];
}
