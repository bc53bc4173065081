/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the short form of function names in text. */
#include "replay/report/stacks/short-function.h"
#include "test/unit/harness.h"

static void becomes(const char *name, const char *expected)
{
	char buffer[512];

	ts_check_str(ts_short_function(name, buffer, sizeof(buffer)), expected);
	ts_check(!strcmp(buffer, expected));
}

TS_TEST(functions_of_pytorch)
{
	becomes("void at::native::gpu_kernel_impl<at::native::F<float> >(at::TensorIteratorBase&, F const&) "
		"[clone .isra.0]",
		"at::native::gpu_kernel_impl");
	becomes("c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::W<at::Tensor (at::Tensor const&), &f>, "
		"at::Tensor (at::Tensor const&)>::call(c10::OperatorKernel*, c10::DispatchKeySet)",
		"c10::impl::wrap_kernel_functor_unboxed_::call");
	becomes("at::(anonymous namespace)::(anonymous namespace)::wrapper_empty(c10::ArrayRef<long>)",
		"at::(anonymous namespace)::(anonymous namespace)::wrapper_empty");
	becomes("at::native::_local_scalar_dense_cuda(at::Tensor const&)::{lambda()#1}::operator()() const",
		"at::native::_local_scalar_dense_cuda::{lambda#1}::operator()");
	becomes("at::native::copy(at::Iter&)::{lambda(int, char)#2}::operator()(int, char) const::{lambda()#1}::"
		"operator()() const [clone .isra.0]",
		"at::native::copy::{lambda#2}::operator()::{lambda#1}::operator()");
}

TS_TEST(operators)
{
	becomes("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<");
	becomes("Foo::operator bool() const", "Foo::operator bool");
	becomes("Foo::operator->()", "Foo::operator->");
	becomes("auto f(int)->int", "f");
	becomes("operator new(unsigned long)", "operator new");
	becomes("bool operator<(A const&, A const&)", "operator<");
	becomes("void cooperator<int>(int)", "cooperator");
}

TS_TEST(names_with_a_place)
{
	becomes("forward (gpt.py:16)", "forward (gpt.py:16)");
	becomes("<module> (illegal.py:7)", "<module> (illegal.py:7)");
	becomes("void launch<float>(float*, int) (app.cu:12)", "launch (app.cu:12)");
	becomes("main.<locals>.<lambda> (a b.py:3)", "main.<locals>.<lambda> (a b.py:3)");
}

TS_TEST(names_that_stay)
{
	becomes("main", "main");
	becomes("", "");
	becomes("<module>", "<module>");
	becomes("<listcomp>", "<listcomp>");
	becomes("libcudnn_ops.so.9+0x2f0e7b", "libcudnn_ops.so.9+0x2f0e7b");
	becomes("f(", "f(");
	becomes("f)", "f)");
	becomes("a > b (c", "a > b (c");
	becomes("(anonymous namespace)", "(anonymous namespace)");
	becomes("()", "()");
}

TS_TEST(small_buffers)
{
	char buffer[8];

	ts_check_str(ts_short_function("void a_long_name<int>(int)", buffer, sizeof(buffer)),
		     "a_long_");
	ts_check_str(ts_short_function("f(int) (a.cu:1)", buffer, sizeof(buffer)), "f (a.cu");
	ts_check_str(ts_short_function("f(int)", buffer, 1), "");
}
