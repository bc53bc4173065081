# SPDX-License-Identifier: Apache-2.0
"""JAX: a small network, compiled and trained."""
import os
os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
import jax, jax.numpy as jnp
def loss(p, x, y):
    for w in p[:-1]: x = jnp.tanh(x @ w)
    return ((x @ p[-1] - y) ** 2).mean()
@jax.jit
def step(p, x, y):
    l, g = jax.value_and_grad(loss)(p, x, y)
    return l, [w - 0.1 * d for w, d in zip(p, g)]
k = jax.random.PRNGKey(0)
p = [jax.random.normal(k, (64, 64)) * 0.1 for _ in range(4)]
x = jax.random.normal(k, (256, 64)); y = jnp.sin(x)
for i in range(30): l, p = step(p, x, y)
print(jax.devices()[0], float(l))
