// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * System calls that matter to a GPU program: ioctl on GPU devices, changes of the memory map, waits
 * for a futex, opened and read files.
 */
#include "daemon/bpf/programs/tally.bpf.h"

#define CALL_READ	 0
#define CALL_OPEN	 2
#define CALL_MMAP	 9
#define CALL_MUNMAP	 11
#define CALL_IOCTL	 16
#define CALL_PREAD	 17
#define CALL_READV	 19
#define CALL_MREMAP	 25
#define CALL_MADVISE	 28
#define CALL_FUTEX	 202
#define CALL_OPENAT	 257
#define CALL_PREADV	 295
#define CALL_PREADV2	 327
#define FUTEX_OPERATIONS 0x7f
/* Operations that wait: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2. */
#define FUTEX_WAITS	(1 << 0 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 13)

#define MODE_TYPE	0170000
#define MODE_CHARACTERS 0020000
#define MODE_REGULAR	0100000

/*
 * Calls by thread. An entry stays for reuse: start_ns is 0 while the thread is in no recorded call.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct ts_bpf_syscall);
} calling SEC(".maps");

/* Device nodes of GPUs, by the kernel's own encoding of the device number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u32);
} gpu_nodes SEC(".maps");

static __always_inline struct file *file_of(int fd)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

/*
 * Records the file of the descriptor. False: the call is not recorded. An ioctl needs a GPU's node,
 * the other calls a regular file.
 */
static __always_inline bool note_file(struct ts_bpf_syscall *call, bool node)
{
	struct file *file = file_of(call->fd);
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u32 mode, device;

	if (!file || !inode)
		return false;
	mode = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	device = BPF_CORE_READ(inode, i_rdev);
	if (node ? mode != MODE_CHARACTERS || !bpf_map_lookup_elem(&gpu_nodes, &device)
		 : mode != MODE_REGULAR)
		return false;
	bpf_probe_read_kernel_str(call->file, sizeof(call->file),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return true;
}

/* Fills in the arguments of the call. False: calls of this kind are not recorded. */
static __always_inline bool note_call(struct ts_bpf_syscall *call, struct pt_regs___kernel *regs)
{
	call->fd = -1;
	switch (call->syscall) {
	case CALL_IOCTL:
		call->fd = (int)regs->di;
		call->operation = (__u32)regs->si;
		call->address = regs->dx;
		return note_file(call, true);
	case CALL_PREAD:
	case CALL_PREADV:
	case CALL_PREADV2:
		call->offset = regs->r10;
		/* fall through */
	case CALL_READ:
	case CALL_READV:
		call->fd = (int)regs->di;
		call->address = regs->si;
		/*
		 * In vectored calls (readv() and others) this argument is the number of pieces, not
		 * of bytes.
		 */
		if (call->syscall == CALL_READ || call->syscall == CALL_PREAD)
			call->bytes = regs->dx;
		return note_file(call, false);
	case CALL_MMAP:
		call->fd = (int)regs->r8;
		call->offset = regs->r9;
		/* fall through */
	case CALL_MUNMAP:
	case CALL_MREMAP:
		call->address = regs->di;
		call->bytes = regs->si;
		return true;
	case CALL_MADVISE:
		call->address = regs->di;
		call->bytes = regs->si;
		call->operation = (__u32)regs->dx;
		return true;
	case CALL_FUTEX:
		call->address = regs->di;
		call->operation = (__u32)regs->si;
		return FUTEX_WAITS >> (call->operation & FUTEX_OPERATIONS & 31) & 1;
	case CALL_OPEN:
		call->address = regs->di;
		return true;
	case CALL_OPENAT:
		call->fd = (int)regs->di;
		call->address = regs->si;
		return true;
	default:
		return false;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(syscall_entered, struct pt_regs___kernel *regs, long number)
{
	__u64 caller = bpf_get_current_pid_tgid();
	struct ts_bpf_traced *settings = find_traced(caller >> 32, TS_BPF_SYSCALLS);
	struct ts_bpf_syscall call = {}, *place;
	__u32 tid = (__u32)caller;

	if (!settings)
		return 0;
	call.syscall = (__u32)number;
	if (!note_call(&call, regs) || !is_current_of_peer(settings))
		return 0;
	call.event.session = settings->session;
	call.event.program = TS_BPF_SYSCALLS;
	call.event.tid = tid;
	call.event.pid = caller >> 32;
	call.event.start_ns = bpf_ktime_get_ns();
	place = bpf_map_lookup_elem(&calling, &tid);
	if (place)
		*place = call;
	else
		bpf_map_update_elem(&calling, &tid, &call, BPF_ANY);
	return 0;
}

/* Sends the call. Most calls have no file, so their events are short. */
static __always_inline void send(struct ts_bpf_syscall *call)
{
	__u64 flags = wake_flags_at_times(call->event.end_ns);
	long r;

	if (call->has_file)
		r = bpf_ringbuf_output(&events, call, sizeof(*call), flags);
	else
		r = bpf_ringbuf_output(&events, call, offsetof(struct ts_bpf_syscall, file), flags);
	if (r)
		lose(call->event.session, TS_BPF_SYSCALLS);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(syscall_left, struct pt_regs___kernel *regs, long result)
{
	__u64 caller = bpf_get_current_pid_tgid(), now;
	struct ts_bpf_traced *settings = find_traced(caller >> 32, TS_BPF_SYSCALLS);
	__u32 tid = (__u32)caller;
	struct ts_bpf_syscall *call;

	if (!settings)
		return 0;
	call = bpf_map_lookup_elem(&calling, &tid);
	if (!call || !is_noted(settings, &call->event))
		return 0;
	/* Another thread made the memory undumpable during the call. */
	if (!is_current_of_peer(settings)) {
		call->event.start_ns = 0;
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (is_counted(settings, TS_BPF_SYSCALLS)) {
		bpf_get_current_comm(call->event.name, sizeof(call->event.name));
		count(&call->event, call->syscall, now - call->event.start_ns);
	} else if (now - call->event.start_ns >= settings->threshold_ns[TS_BPF_SYSCALLS]) {
		call->event.end_ns = now;
		call->result = result;
		bpf_get_current_comm(call->event.name, sizeof(call->event.name));
		if (call->syscall == CALL_OPENAT || call->syscall == CALL_OPEN)
			bpf_probe_read_user_str(call->file, sizeof(call->file),
						(const void *)call->address);
		call->has_file = call->file[0] != '\0';
		send(call);
	}
	call->event.start_ns = 0;
	return 0;
}
