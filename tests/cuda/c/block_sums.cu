// block_sums of kernels.py
extern "C" __global__ void block_sums(const float *x, long long n, float *out, long long n_out)
{
    __shared__ float s[256];
    long long t = threadIdx.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (long long step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
