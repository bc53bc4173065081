/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throws [N]: a C++ program without a GPU that throws and catches, 100,000 times unless told otherwise. Its
 * unwinder must stay its own, however it was preloaded: each exception passes frames with destructors.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

static long destroyed;

struct witness {
	~witness() { destroyed++; }
};

__attribute__((noinline)) static void thrower(int depth, long i)
{
	witness here;

	if (!depth)
		throw std::runtime_error(std::to_string(i));
	thrower(depth - 1, i);
	asm volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? std::atol(argv[1]) : 100000;
	long caught = 0;

	for (long i = 0; i < n; i++) {
		try {
			thrower(static_cast<int>(i % 8), i);
		} catch (const std::runtime_error &error) {
			caught += std::atol(error.what()) == i;
		}
	}
	std::printf("throws: %ld caught, %ld destroyed\n", caught, destroyed);
	return caught == n ? 3 : 1;
}
