"""Layers and small networks. Images are (N, H, W, C), float32."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    powers = np.exp(x - largest)
    total = np.sum(powers, axis=-1, keepdims=True)
    return powers / total


def make_softmax(N, H, SM):
    return (np.random.default_rng(42).random((N, H, SM, SM), dtype=np.float32),)


def mlp(input, w1, b1, w2, b2, w3, b3):
    x = relu(input @ w1 + b1)
    x = relu(x @ w2 + b2)
    x = softmax(x @ w3 + b3)
    return x


def make_mlp(C_in, N, S0, S1, S2):
    rng = np.random.default_rng(42)
    shapes = (N, C_in), (C_in, S0), (S0,), (S0, S1), (S1,), (S1, S2), (S2,)
    return tuple(rng.random(shape, dtype=np.float32) for shape in shapes)


def conv2d(input, weights):
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i:i + K, j:j + K, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return output


def conv2d_bias(input, weights, bias):
    return conv2d(input, weights) + bias


def make_conv2d_bias(N, C_in, C_out, K, H, W):
    rng = np.random.default_rng(42)
    return (rng.random((N, H, W, C_in), dtype=np.float32), rng.random((K, K, C_in, C_out), dtype=np.float32),
            rng.random((C_out,), dtype=np.float32))


def maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i:2 * i + 2, 2 * j:2 * j + 2, :], axis=(1, 2))
    return output


def lenet(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    x = relu(conv2d(input, conv1) + conv1bias)
    x = maxpool2d(x)
    x = relu(conv2d(x, conv2) + conv2bias)
    x = maxpool2d(x)
    x = np.reshape(x, (N, C_before_fc1))
    x = relu(x @ fc1w + fc1b)
    x = relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b


def make_lenet(N, H, W):
    rng = np.random.default_rng(42)
    features = 16 * (((H - 4) // 2 - 4) // 2) * (((W - 4) // 2 - 4) // 2)
    shapes = ((N, H, W, 1), (5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (features, 120), (120,), (120, 84), (84,),
              (84, 10), (10,))
    return *(rng.random(shape, dtype=np.float32) for shape in shapes), N, features


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet(input, conv1, conv2, conv3):
    padded = np.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(input, conv1)
    x = batchnorm2d(padded)
    x = relu(x)
    x = conv2d(x, conv2)
    x = batchnorm2d(x)
    x = relu(x)
    x = conv2d(x, conv3)
    x = batchnorm2d(x)
    return relu(x + input)


def make_resnet(N, W, H, C1, C2):
    rng = np.random.default_rng(42)
    shapes = (N, H, W, C1), (1, 1, C1, C2), (3, 3, C2, C2), (1, 1, C2, C1)
    return tuple(rng.random(shape, dtype=np.float32) for shape in shapes)


# float32 throughout: sums of n terms in another order differ by about n**0.5 half units in the last place.
KERNELS = (
    Kernel(softmax, make_softmax, dict(N=16, H=16, SM=128), dict(N=2, H=3, SM=5), rtol=1e-5),
    Kernel(mlp, make_mlp, dict(C_in=3, N=8, S0=30000, S1=2000, S2=2000), dict(C_in=3, N=4, S0=10, S1=7, S2=5),
           rtol=1e-4),
    Kernel(conv2d_bias, make_conv2d_bias, dict(N=8, C_in=3, C_out=16, K=2, H=32, W=32),
           dict(N=2, C_in=3, C_out=4, K=2, H=5, W=6), rtol=1e-5),
    Kernel(lenet, make_lenet, dict(N=4, H=28, W=28), dict(N=2, H=16, W=16), rtol=1e-5),
    Kernel(resnet, make_resnet, dict(N=8, W=14, H=14, C1=32, C2=8), dict(N=3, W=5, H=4, C1=4, C2=2), rtol=1e-4),
)
