// SPDX-License-Identifier: Apache-2.0
/*
 * Records a fault of a kernel with its place: kernel, function, block, thread, PTX and source line.
 * All instruction functions and the engine call this file.
 */
#include <stdarg.h>
#include <stdio.h>

#include "replay/vgpu/ptx/run/ptx-exec.h"

const char *ts_ptx_fault_name(enum ts_ptx_fault_kind kind)
{
	static const char *const names[] = {
		[TS_PTX_FAULT_NONE] = "no fault",
		[TS_PTX_FAULT_OUT_OF_BOUNDS] = "out-of-bounds access",
		[TS_PTX_FAULT_MISALIGNED] = "misaligned access",
		[TS_PTX_FAULT_READ_ONLY] = "write to read-only memory",
		[TS_PTX_FAULT_TRAP] = "trap",
		[TS_PTX_FAULT_ASSERT] = "assertion failed",
		[TS_PTX_FAULT_ILLEGAL] = "illegal instruction",
		[TS_PTX_FAULT_PC] = "invalid program counter",
		[TS_PTX_FAULT_STACK] = "stack overflow",
		[TS_PTX_FAULT_DEADLOCK] = "deadlock",
		[TS_PTX_FAULT_BUDGET] = "budget exhausted",
		[TS_PTX_FAULT_CANCELLED] = "cancelled",
		[TS_PTX_FAULT_NO_MEMORY] = "out of host memory",
		[TS_PTX_FAULT_WAITS] = "waiting without end",
	};

	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown fault";
}

static void fault_place(struct ts_ptx_fault *f, struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
			uint32_t lane)
{
	const struct ts_ptx_code *code = ts_ptx_frame_of(w)->code;
	const struct ts_ptx_origin *origin = &code->origins[in->index];

	(void)snprintf(f->kernel, sizeof(f->kernel), "%s", w->worker->kernel->info.name);
	(void)snprintf(f->function, sizeof(f->function), "%s", code->name);
	memcpy(f->block, w->block->ctaid, sizeof(f->block));
	for (int i = 0; i < 3; i++)
		f->thread[i] = w->tid[i][lane];
	f->line = origin->line;
	f->source_line = origin->source_line;
	for (const struct ts_ptx_file *file = code->files; file && origin->source_line;
	     file = file->next)
		if (file->number == origin->source_file)
			(void)snprintf(f->source_file, sizeof(f->source_file), "%s", file->path);
}

static void fault_message(struct ts_ptx_fault *f, const char *what)
{
	size_t n;

	(void)snprintf(f->message, sizeof(f->message), "%s: %.200s, in kernel %.100s",
		       ts_ptx_fault_name(f->kind), what, f->kernel);
	n = strlen(f->message);
	if (strcmp(f->kernel, f->function)) {
		(void)snprintf(f->message + n, sizeof(f->message) - n, " (function %.60s)",
			       f->function);
		n = strlen(f->message);
	}
	(void)snprintf(f->message + n, sizeof(f->message) - n,
		       ", block (%u,%u,%u), thread (%u,%u,%u), PTX line %u", f->block[0],
		       f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2], f->line);
	n = strlen(f->message);
	if (f->source_line && f->source_file[0])
		(void)snprintf(f->message + n, sizeof(f->message) - n, ", %.120s:%u",
			       f->source_file, f->source_line);
}

int ts_ptx_fault(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
		 enum ts_ptx_fault_kind kind, const char *format, ...)
{
	struct ts_ptx_fault *f = &w->worker->fault;
	char what[320];
	va_list args;

	if (f->kind)
		return STOP_FAULT;
	*f = (struct ts_ptx_fault){.kind = kind};
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	fault_place(f, w, in, lane);
	fault_message(f, what);
	return STOP_FAULT;
}

int ts_ptx_fault_access(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
			enum ts_ptx_fault_kind kind, uint64_t address, uint32_t bytes, bool write)
{
	static const char *const spaces[] = {
		[SP_GENERIC] = "",
		[SP_GLOBAL] = " of global memory",
		[SP_CONST] = " of constant memory",
		[SP_SHARED] = " of shared memory",
		[SP_LOCAL] = " of local memory",
		[SP_PARAM] = " of parameters",
	};
	struct ts_ptx_fault *f = &w->worker->fault;
	bool first = !f->kind;

	(void)ts_ptx_fault(w, in, lane, kind, "%s of %u bytes at 0x%llx%s",
			   write ? "write" : "read", bytes, (unsigned long long)address,
			   in->space <= SP_PARAM ? spaces[in->space] : "");
	if (first) {
		f->address = address;
		f->bytes = bytes;
		f->is_write = write;
		f->is_shared =
			in->space == SP_SHARED || address >> 32 == TS_PTX_WINDOW_SHARED >> 32;
	}
	return STOP_FAULT;
}
