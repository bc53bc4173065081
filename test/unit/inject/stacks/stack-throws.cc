/* SPDX-License-Identifier: Apache-2.0 */
/* Calls back with a C++ exception in flight: from a handler, and from a destructor that runs while one unwinds. */
#include <stdexcept>

namespace {

struct Calls {
	int (*callback)(void *);
	void *data;
	int &result;

	~Calls() { result += callback(data); }
};

__attribute__((noinline)) void thrower(int depth)
{
	if (!depth)
		throw std::runtime_error("expected");
	thrower(depth - 1);
	asm volatile("");
}

__attribute__((noinline)) void unwound(int (*callback)(void *), void *data, int &result)
{
	Calls calls = {callback, data, result};

	thrower(3);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int throws_call(int (*callback)(void *), void *data)
{
	int result = 0;

	try {
		unwound(callback, data, result);
	} catch (const std::exception &) {
		result += callback(data);
	}
	return result;
}
