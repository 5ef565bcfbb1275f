"""A network of two layers learns the handwritten digits that scikit-learn ships. `python digits.py`

The parameters are a list of pairs, and so is the gradient. Needs scikit-learn for the data.
"""
import numpy as np

import pyjitc


def network(layers, x):
    for w, b in layers[:-1]:
        x = np.tanh(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


def loss(layers, x, labels):
    scores = network(layers, x)
    scores = scores - np.max(scores, axis=1)[:, None]
    total = 0.0
    for i in range(len(labels)):
        total += np.log(np.sum(np.exp(scores[i]))) - scores[i, labels[i]]
    return total / len(labels)


def train(x, labels, hidden=32, epochs=20, batch=50, rate=0.5):
    random = np.random.default_rng(0)
    sizes = x.shape[1], hidden, 10
    layers = [(random.normal(size=(m, n)) / np.sqrt(m), np.zeros(n)) for m, n in zip(sizes, sizes[1:])]
    gradient = pyjitc.grad(loss)
    for _ in range(epochs):
        order = random.permutation(len(x))
        for start in range(0, len(x), batch):
            chosen = order[start:start + batch]
            found = gradient(layers, x[chosen], labels[chosen])
            layers = pyjitc.tree.map(lambda p, g: p - rate * g, layers, found)
    return layers


if __name__ == "__main__":
    from sklearn.datasets import load_digits

    x, labels = load_digits(return_X_y=True)
    x = x / 16.0
    layers = train(x[:1400], labels[:1400])
    guessed = np.argmax(network(layers, x[1400:]), axis=1)
    print(f"{np.mean(guessed == labels[1400:]):.1%} of {len(guessed)} digits that it has not seen")
