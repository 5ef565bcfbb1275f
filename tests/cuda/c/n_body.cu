// n_body of kernels.py
extern "C" __global__ void n_body(const float *p, long long n, long long three, float *force, long long n_force, long long three_force)
{
    __shared__ float near[32][3];
    long long t = threadIdx.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    float own[3];
    for (int k = 0; k < 3; k++)
        own[k] = 0;
    for (long long tile = 0; tile < n; tile += 32) {
        for (int k = 0; k < 3; k++)
            near[t][k] = p[(tile + t) * three + k];
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float dx = near[j][0] - p[i * three], dy = near[j][1] - p[i * three + 1], dz = near[j][2] - p[i * three + 2];
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float w = rsqrtf(r2) / r2;
            own[0] += w * dx;
            own[1] += w * dy;
            own[2] += w * dz;
        }
        __syncthreads();
    }
    for (int k = 0; k < 3; k++)
        force[i * three_force + k] = own[k];
}
