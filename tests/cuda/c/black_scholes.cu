// black_scholes of kernels.py
static __device__ double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.7071067811865476);
}

extern "C" __global__ void black_scholes(const double *s, long long n, const double *k, long long n_k, const double *t, long long n_t,
                                         double r, double v, double *call, long long n_call, double *put, long long n_put)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double root = v * sqrt(t[i]);
    double d1 = (log(s[i] / k[i]) + (r + 0.5 * v * v) * t[i]) / root;
    double discounted = k[i] * exp(-r * t[i]);
    call[i] = s[i] * normal_cdf(d1) - discounted * normal_cdf(d1 - root);
    put[i] = call[i] - s[i] + discounted;
}
