/* SPDX-License-Identifier: Apache-2.0 */
/* Figures, tables and text for a terminal. */
#include "replay/report/names/names.h"
#include "test/unit/harness.h"
#include "tools/tsctl/screen/out.h"

#include "proto/abi/record.h"

static const char *shown(const char *text, size_t columns)
{
	static char buffer[256];
	FILE *file = fmemopen(buffer, sizeof(buffer), "w");

	ts_check(file);
	memset(buffer, 0, sizeof(buffer));
	ts_out_text_cut(file, text, columns);
	fclose(file);
	return buffer;
}

TS_TEST(text_from_strangers_is_harmless)
{
	ts_check_str(shown("plain", 0), "plain");
	ts_check_str(shown("a\033[2Jb\n\r\t\x7f", 0), "a\\x1b[2Jb\\x0a\\x0d\\x09\\x7f");
	ts_check_str(shown("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82", 0),
		     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82");
	/* Overlong, lone continuation, cut off, surrogate, C1 control. */
	ts_check_str(shown("\xc0\xaf", 0), "\\xc0\\xaf");
	ts_check_str(shown("\x80", 0), "\\x80");
	ts_check_str(shown("\xe2\x82", 0), "\\xe2\\x82");
	ts_check_str(shown("\xed\xa0\x80", 0), "\\xed\\xa0\\x80");
	ts_check_str(shown("\xc2\x9b", 0), "\\xc2\\x9b");
	/*
	 * U+202E reverses the following text, U+2066 isolates text, U+2028 is a line break; U+202F
	 * is a space.
	 */
	ts_check_str(shown("a\xe2\x80\xaegnp.exe", 0), "a\\xe2\\x80\\xaegnp.exe");
	ts_check_str(shown("\xe2\x81\xa6x\xe2\x81\xa9", 0), "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
	ts_check_str(shown("\xe2\x80\xa8", 0), "\\xe2\\x80\\xa8");
	ts_check_str(shown("\xe2\x80\xaf", 0), "\xe2\x80\xaf");
}

TS_TEST(text_is_cut_to_columns)
{
	ts_check_str(shown("0123456789", 10), "0123456789");
	ts_check_str(shown("0123456789", 9), "012...789");
	ts_check_str(shown("0123456789", 8), "012...89");
	ts_check_str(shown("0123456789", 2), "...");
	ts_check_str(shown("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4), "\xc3\xbc...");
	/* An escape is shown whole or not at all. */
	ts_check_str(shown("ab\x01\x01\x01yz", 9), "ab...yz");
	ts_check_int(ts_out_width("\xc3\xbc\x01"), 5);
}

TS_TEST(threads)
{
	char text[TS_OUT_THREAD_BYTES], name[200];

	ts_check_str(ts_out_thread(text, "python3", 77), "python3/77");
	ts_check_str(ts_out_thread(text, NULL, 77), "?/77");
	ts_check_str(ts_out_thread(text, "another user's thread", 0), "another user's thread");
	ts_check_str(ts_out_thread(text, NULL, 0), "");
	/* A hostile file can have names of any length. */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ts_check(strlen(ts_out_thread(text, name, UINT32_MAX)) < sizeof(text));
}

TS_TEST(figures)
{
	char text[TS_OUT_FIGURE_BYTES], counted[TS_OUT_COUNTED_BYTES];

	ts_check_str(ts_out_duration(text, 0), "0 ns");
	ts_check_str(ts_out_duration(text, 999), "999 ns");
	ts_check_str(ts_out_duration(text, 1000), "1.000 us");
	ts_check_str(ts_out_duration(text, 12345678), "12.35 ms");
	ts_check_str(ts_out_duration(text, UINT64_C(123456789012)), "123.5 s");
	ts_check_str(ts_out_bytes(text, 1023), "1023 B");
	ts_check_str(ts_out_bytes(text, 16 << 20), "16.00 MiB");
	ts_check_str(ts_out_bytes(text, UINT64_MAX), "16.00 EiB");
	ts_check_str(ts_out_count(text, 0), "0");
	ts_check_str(ts_out_count(text, 999), "999");
	ts_check_str(ts_out_count(text, 1000000), "1,000,000");
	ts_check_str(ts_out_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
	ts_check_str(ts_out_seconds(text, 1234567), "0.001234567");
	ts_check_str(ts_out_counted(counted, 1, "copy"), "1 copy");
	ts_check_str(ts_out_counted(counted, 2000, "copy"), "2,000 copies");
	ts_check_str(ts_out_counted(counted, 0, "launch"), "0 launches");
	ts_check_str(ts_out_counted(counted, UINT64_MAX, "operation"),
		     "18,446,744,073,709,551,615 operations");
}

TS_TEST(names_of_numbers)
{
	char call[TS_CALL_NAME_BYTES];

	ts_check_str(ts_name_api(TS_API_CUDA_RUNTIME, 211), "cudaLaunchKernel");
	ts_check_str(ts_name_api(TS_API_CUDA_RUNTIME, 20), "cudaMalloc");
	ts_check_str(ts_name_api(TS_API_CUDA_DRIVER, 307), "cuLaunchKernel");
	ts_check(!ts_name_api(TS_API_CUDA_DRIVER, 65535));
	ts_check(!ts_name_api(TS_API_CUDA_RUNTIME, UINT32_MAX));
	/* Calls of libraries like CUPTI have the like-named call's number. */
	ts_check_str(ts_name_api(TS_API_HIP, 6), "hipModuleLaunchKernel");
	ts_check_str(ts_name_api(TS_API_MACA, 6), "mcModuleLaunchKernel");
	ts_check_str(ts_name_api(TS_API_ACL, 1), "aclrtLaunchKernel");
	ts_check_str(ts_name_api(TS_API_MUSA_RUNTIME, 20), "musaMalloc");
	ts_check_str(ts_name_api(TS_API_MUSA_DRIVER, 307), "muLaunchKernel");
	ts_check_str(ts_name_api(TS_API_MACA, 6), "mcModuleLaunchKernel");
	ts_check(!ts_name_api(TS_API_MACA, 65535));
	ts_check(!ts_name_api(TS_API_ACL + 1, 1));
	ts_check(!ts_name_api(77, 1));
	ts_check_str(ts_name_call(TS_API_CUDA_RUNTIME, 211, call), "cudaLaunchKernel");
	ts_check_str(ts_name_call(TS_API_CUDA_RUNTIME, 65535, call), "runtime#65535");
	ts_check_str(ts_name_call(TS_API_MUSA_RUNTIME, UINT32_MAX, call),
		     "musa_runtime#4294967295");
	ts_check_str(ts_name_call(77, 1, call), "api#1");
	ts_check_str(ts_name_syscall(0), "read");
	ts_check_str(ts_name_syscall(203), "sched_setaffinity");
	ts_check(!ts_name_syscall(400));
	ts_check(!ts_name_syscall(UINT32_MAX));
	ts_check_str(ts_name_api_error(TS_API_CUDA_RUNTIME, 1), "cudaErrorInvalidValue");
	ts_check_str(ts_name_api_error(TS_API_CUDA_DRIVER, 1), "CUDA_ERROR_INVALID_VALUE");
	ts_check(!ts_name_api_error(TS_API_CUDA_RUNTIME, 990));
	ts_check(!ts_name_api_error(TS_API_CUDA_DRIVER, (uint32_t)-1));
	ts_check(!ts_name_api_error(77, 1));
	ts_check_str(ts_name_memcpy_kind(1), "htod");
	ts_check(!ts_name_memcpy_kind(UINT32_MAX));
	ts_check_str(ts_name_loss_reason(TS_LOSS_RING_FULL), "ring_full");
	ts_check(!ts_name_loss_reason(0));
	ts_check_str(ts_name_overhead_kind(0x10000), "cupti_buffer_flush");
	ts_check(!ts_name_overhead_kind(0x10001));
#define HAS_TEXT(name, value, key)                                   \
	ts_check(!strstr(ts_name_loss_text(key), "does not know") || \
		 value == TS_LOSS_UNKNOWN_RECORD);
	TS_LOSS_REASONS(HAS_TEXT)
#undef HAS_TEXT
	ts_check(strstr(ts_name_loss_text("no such"), "does not know"));
}

TS_TEST(kernel_names_are_demangled)
{
	struct ts_demangler *demangler = NULL;
	const char *name;

	ts_check_int(ts_demangler_new(&demangler), 0);
	ts_check_str(ts_demangle(demangler, "saxpy"), "saxpy");
	ts_check_str(ts_demangle(demangler, "_Zgarbage"), "_Zgarbage");
	ts_check_str(ts_demangle(NULL, "_Z5saxpyif"), "_Z5saxpyif");
	name = ts_demangle(demangler, "_Z5saxpyifPfS_");
	/* Without a C++ library on this machine, the name stays mangled. */
	ts_check(!strcmp(name, "saxpy(int, float, float*, float*)") || name[0] == '_');
	ts_check(ts_demangle(demangler, "_Z5saxpyifPfS_") == name || name[0] == '_');
	/* Many names: the table grows. */
	for (int i = 0; i < 5000; i++) {
		char mangled[32];

		snprintf(mangled, sizeof(mangled), "_Z5k%04dv", i);
		ts_check(ts_demangle(demangler, mangled));
	}
	ts_demangler_free(demangler);
}
