/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the features that the eBPF programs require of a kernel, read from their instructions.
 * Linux 5.8 has all of them, except those that a program calls only if the kernel's types name
 * them. Needs no privilege.
 */
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "test/unit/harness.h"

#include "daemon/bpf/bpf-objects.h"
#include "proto/abi/base.h"

/*
 * Helpers by the kernel version that added them. linux/bpf.h lists helpers in that order, and
 * kernels never renumber them.
 */
static const struct {
	__s32 id;
	unsigned version; /* 508: Linux 5.8 */
} helpers[] = {
	{BPF_FUNC_map_lookup_elem, 319},      {BPF_FUNC_map_update_elem, 319},
	{BPF_FUNC_map_delete_elem, 319},      {BPF_FUNC_ktime_get_ns, 401},
	{BPF_FUNC_get_smp_processor_id, 401}, {BPF_FUNC_get_current_pid_tgid, 402},
	{BPF_FUNC_get_current_uid_gid, 402},  {BPF_FUNC_get_current_comm, 402},
	{BPF_FUNC_get_current_task, 408},     {BPF_FUNC_get_stack, 418},
	{BPF_FUNC_probe_read_user, 505},      {BPF_FUNC_probe_read_kernel, 505},
	{BPF_FUNC_probe_read_user_str, 505},  {BPF_FUNC_probe_read_kernel_str, 505},
	{BPF_FUNC_ringbuf_output, 508},	      {BPF_FUNC_ringbuf_reserve, 508},
	{BPF_FUNC_ringbuf_submit, 508},	      {BPF_FUNC_ringbuf_discard, 508},
	{BPF_FUNC_ringbuf_query, 508},	      {BPF_FUNC_copy_from_user, 510},
	{BPF_FUNC_get_current_task_btf, 511}, {BPF_FUNC_get_attach_cookie, 515},
	{BPF_FUNC_task_pt_regs, 515},	      {BPF_FUNC_find_vma, 517},
};

/* A program calls these only if bpf_core_enum_value_exists() finds them in the kernel. */
static const struct {
	const char *program;
	__s32 id;
} guarded[] = {
	{"sched_switched", BPF_FUNC_task_pt_regs},
	{"sched_woken", BPF_FUNC_get_current_task_btf},
	{"stack_taken", BPF_FUNC_get_current_task_btf},
	{"syscall_entered", BPF_FUNC_get_current_task_btf},
	{"syscall_left", BPF_FUNC_get_current_task_btf},
	{"fault_minor", BPF_FUNC_find_vma},
	{"fault_minor", BPF_FUNC_get_current_task_btf},
	{"fault_major", BPF_FUNC_find_vma},
	{"fault_major", BPF_FUNC_get_current_task_btf},
};

static bool is_guarded(const char *program, __s32 id)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(guarded); i++)
		if (guarded[i].id == id && !strcmp(guarded[i].program, program))
			return true;
	return false;
}

/*
 * Returns the version of the kernel that added the helper; 0: the table does not have the helper.
 */
static unsigned version_of(__s32 id)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(helpers); i++)
		if (helpers[i].id == id)
			return helpers[i].version;
	return 0;
}

static size_t check_program(const struct bpf_program *program, unsigned most)
{
	const struct bpf_insn *code = bpf_program__insns(program);
	size_t n = bpf_program__insn_cnt(program), n_calls = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned version;

		/*
		 * A call of the program's own function, or of a kernel function by name, has
		 * another source register.
		 */
		if (code[i].code != (BPF_JMP | BPF_CALL) || code[i].src_reg)
			continue;
		n_calls++;
		version = version_of(code[i].imm);
		if (version &&
		    (version <= most || is_guarded(bpf_program__name(program), code[i].imm)))
			continue;
		fprintf(stderr, "%s calls helper %d, of Linux %u.%u\n", bpf_program__name(program),
			code[i].imm, version / 100, version % 100);
		exit(1);
	}
	return n_calls;
}

static void check_object(const struct ts_bpf_object *bytes, unsigned most)
{
	struct bpf_object *object = bpf_object__open_mem(bytes->bytes, bytes->n_bytes, NULL);
	struct bpf_program *program = NULL;
	size_t n_calls = 0;

	ts_check(object != NULL);
	while ((program = bpf_object__next_program(object, program)))
		n_calls += check_program(program, most);
	ts_check(n_calls > 0);
	bpf_object__close(object);
}

/*
 * Checks that the object has no kprobes and nothing that needs tracefs: its attachment points exist
 * since Linux 5.5 or earlier.
 */
static void check_sections(const struct ts_bpf_object *bytes)
{
	static const char *const known[] = {"tp_btf/", "raw_tp/", "perf_event"};
	struct bpf_object *object = bpf_object__open_mem(bytes->bytes, bytes->n_bytes, NULL);
	struct bpf_program *program = NULL;

	ts_check(object != NULL);
	while ((program = bpf_object__next_program(object, program))) {
		const char *section = bpf_program__section_name(program);
		bool found = false;

		for (size_t i = 0; i < TS_ARRAY_LEN(known); i++)
			found = found || !strncmp(section, known[i], strlen(known[i]));
		ts_check(found);
	}
	bpf_object__close(object);
}

TS_TEST(events_ask_for_5_8)
{
	const struct ts_bpf_object *const objects[] = {
		&ts_bpf_object_process,	 &ts_bpf_object_sched, &ts_bpf_object_faults,
		&ts_bpf_object_syscalls, &ts_bpf_object_block, &ts_bpf_object_memory,
		&ts_bpf_object_driver,	 &ts_bpf_object_jobs,
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(objects); i++) {
		check_object(objects[i], 508);
		check_sections(objects[i]);
	}
}

/* One link for many probes exists since Linux 6.6; no other feature of the probes is newer. */
TS_TEST(probes_ask_for_6_6)
{
	check_object(&ts_bpf_object_system, 606);
}
