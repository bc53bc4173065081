// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of the vendors' libraries in all processes. A probe sits on the first instruction of a
 * function and on its return.
 *
 * A runtime calls the driver, and both have probes: a call inside another call is part of the outer
 * call. begin() finds an inner call by its stack pointer, which is lower inside a call. So if the
 * return of a call is never seen (a longjmp), only that call is lost.
 *
 * Kernels from 6.13 run one program at both ends (call_either); at the first instruction it returns
 * whether it needs the return. Older kernels run call_begun and call_ended.
 */
#include "daemon/bpf/programs/kernel.bpf.h"

#include "daemon/bpf/call.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct ts_call_process);
} processes SEC(".maps");

struct call {
	__u64 start_ns;
	__u64 cookie;
	__u64 stack;
	__u64 bytes;
	__u64 handle;
	__u64 argument;
};

/* Calls that have not returned, by process and thread. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} call_events SEC(".maps");

/* Lost calls of processes for which `processes` had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} unattributed SEC(".maps");

#define PAGE_BYTES 4096

/*
 * The daemon reads the ring every few milliseconds. A program wakes the daemon only if more than
 * WAKE_BYTES wait in the ring.
 */
#define WAKE_BYTES (1 << 20)

extern bool bpf_session_is_return(void) __ksym __weak;

static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&call_events, BPF_RB_AVAIL_DATA) > WAKE_BYTES ? BPF_RB_FORCE_WAKEUP
									       : BPF_RB_NO_WAKEUP;
}

static __always_inline void lose(__u32 pid)
{
	struct ts_call_process *process = bpf_map_lookup_elem(&processes, &pid);
	__u32 zero = 0;
	__u64 *count;

	if (process) {
		__sync_fetch_and_add(&process->lost, 1);
		return;
	}
	count = bpf_map_lookup_elem(&unattributed, &zero);
	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline bool excluded(__u32 pid)
{
	struct ts_call_process *process = bpf_map_lookup_elem(&processes, &pid);

	return process && process->excluded;
}

struct arguments {
	__u64 of[8]; /* a cookie can name arguments 0 to 7; 6 and 7 are always 0 */
};

/*
 * Reads the arguments of a call from the kernel's own struct pt_regs, which a probe receives. The
 * loader finds its fields by BTF.
 */
static __always_inline struct arguments arguments_of(struct pt_regs___kernel *regs)
{
	return (struct arguments){
		{regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9, 0, 0}};
}

static __always_inline __u64 size_of(const struct arguments *arguments, __u64 cookie)
{
	__u64 bytes = arguments->of[TS_CALL_BYTES(cookie)];

	if (TS_CALL_TIMES(cookie) != TS_CALL_NONE)
		bytes *= arguments->of[TS_CALL_TIMES(cookie)];
	return bytes << TS_CALL_SHIFT(cookie);
}

/* Records the beginning of a call. True if the program also needs the return of the call. */
static __always_inline bool begin(struct pt_regs___kernel *regs, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid(), stack = regs->sp;
	struct call fresh = {.cookie = cookie, .stack = stack};
	struct arguments arguments = arguments_of(regs);
	__u32 pid = id >> 32;
	struct call *outer;

	if (excluded(pid))
		return false;
	outer = bpf_map_lookup_elem(&calls, &id);
	if (outer && stack < outer->stack)
		return false;
	if (outer)
		lose(pid);
	fresh.bytes = size_of(&arguments, cookie);
	fresh.handle = arguments.of[TS_CALL_HANDLE(cookie)];
	fresh.argument = arguments.of[TS_CALL_ARGUMENT(cookie)];
	fresh.start_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&calls, &id, &fresh, BPF_ANY)) {
		lose(pid);
		return false;
	}
	return true;
}

static __always_inline void fill(struct ts_call_event *event, __u32 type, const struct call *call,
				 __u64 id)
{
	event->type = type;
	event->number = TS_CALL_NUMBER(call->cookie);
	event->pid = id >> 32;
	event->tid = (__u32)id;
	event->uid = (__u32)bpf_get_current_uid_gid();
	event->result = 0;
	event->start_ns = call->start_ns;
	event->end_ns = bpf_ktime_get_ns();
	event->bytes = call->bytes;
	event->handle = call->handle;
	bpf_get_current_comm(event->name, sizeof(event->name));
}

/*
 * Marks the process as seen and returns the flags for the ring. The first event of a process wakes
 * the daemon at once, because the daemon inspects the process while it exists.
 */
static __always_inline __u64 note_process(__u32 pid)
{
	struct ts_call_process *process = bpf_map_lookup_elem(&processes, &pid);
	struct ts_call_process fresh = {.seen = 1};

	if (process && process->seen)
		return wake_flags();
	if (process)
		process->seen = 1;
	else
		bpf_map_update_elem(&processes, &pid, &fresh, BPF_NOEXIST);
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline void send_call(const struct call *call, __u64 id, __s32 result)
{
	__u64 flags = note_process(id >> 32);
	struct ts_call_event *event = bpf_ringbuf_reserve(&call_events, sizeof(*event), 0);

	if (!event) {
		lose(id >> 32);
		return;
	}
	fill(event, TS_CALL_EVENT_CALL, call, id);
	event->result = result;
	bpf_ringbuf_submit(event, flags);
}

static __always_inline __u64 handle_of(const struct call *call)
{
	__u64 handle = 0;

	if (!(call->cookie & TS_CALL_INDIRECT))
		return call->handle;
	bpf_copy_from_user(&handle, sizeof(handle), (const void *)call->handle);
	return handle;
}

/*
 * Sends the name of a kernel. False: the text cannot be read yet, for example because its page is
 * not present.
 */
static __always_inline bool send_name(const struct call *call, __u64 id, __u64 handle)
{
	struct ts_call_name *event = bpf_ringbuf_reserve(&call_events, sizeof(*event), 0);
	long n;

	if (!event)
		return true;
	fill(&event->event, TS_CALL_EVENT_NAME, call, id);
	event->event.handle = handle;
	n = bpf_probe_read_user_str(event->text, TS_CALL_NAME_BYTES, (const void *)call->argument);
	if (n > 1)
		bpf_ringbuf_submit(event, note_process(id >> 32));
	else
		bpf_ringbuf_discard(event, BPF_RB_NO_WAKEUP);
	return n >= 0;
}

/*
 * Reads the name of a kernel. The name is a constant of the program, and its pages may be absent;
 * bpf_copy_from_user() makes them present. The process can make this take any time, so no space in
 * the ring is reserved meanwhile: later events would wait behind the reserved space.
 */
static __always_inline void find_name(const struct call *call, __u64 id)
{
	const void *from = (const void *)call->argument;
	const void *next = (const void *)((call->argument | (PAGE_BYTES - 1)) + 1);
	__u64 handle = handle_of(call);
	char byte;

	if (send_name(call, id, handle) || bpf_copy_from_user(&byte, 1, from))
		return;
	if (send_name(call, id, handle) || bpf_copy_from_user(&byte, 1, next))
		return;
	send_name(call, id, handle);
}

static __always_inline void send_alias(const struct call *call, __u64 id)
{
	__u64 handle = handle_of(call);
	struct ts_call_event *event = bpf_ringbuf_reserve(&call_events, sizeof(*event), 0);

	if (!event)
		return;
	fill(event, TS_CALL_EVENT_ALIAS, call, id);
	event->handle = handle;
	event->bytes = call->argument;
	bpf_ringbuf_submit(event, note_process(id >> 32));
}

static __always_inline void end(struct pt_regs___kernel *regs, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct call *kept = bpf_map_lookup_elem(&calls, &id), call;

	/*
	 * If the stack pointer is not above the stack pointer at the call's beginning, an inner
	 * call of the same function returns.
	 */
	if (!kept || kept->cookie != cookie || regs->sp <= kept->stack)
		return;
	call = *kept;
	bpf_map_delete_elem(&calls, &id);
	if (excluded(id >> 32))
		return;
	switch (TS_CALL_ROLE(cookie)) {
	case TS_CALL_PLAIN:
		send_call(&call, id, (__s32)regs->ax);
		break;
	case TS_CALL_NAMES:
		if (!(__s32)regs->ax || !(cookie & TS_CALL_INDIRECT))
			find_name(&call, id);
		break;
	case TS_CALL_ALIAS:
		if (!(__s32)regs->ax)
			send_alias(&call, id);
		break;
	}
}

/* Excludes a process whose own shim begins to work: the shim records more than these probes. */
static __always_inline void exclude(__u64 id, __u64 cookie)
{
	struct call shim = {.cookie = cookie, .start_ns = bpf_ktime_get_ns()};
	struct ts_call_process fresh = {.excluded = 1, .seen = 1}, *process;
	__u32 pid = id >> 32;
	struct ts_call_event *event;

	process = bpf_map_lookup_elem(&processes, &pid);
	if (process)
		process->excluded = process->seen = 1;
	else
		bpf_map_update_elem(&processes, &pid, &fresh, BPF_ANY);
	event = bpf_ringbuf_reserve(&call_events, sizeof(*event), 0);
	if (!event)
		return;
	fill(event, TS_CALL_EVENT_SHIM, &shim, id);
	bpf_ringbuf_submit(event, BPF_RB_FORCE_WAKEUP);
}

static __always_inline bool begin_any(struct pt_regs___kernel *regs, __u64 cookie)
{
	if (TS_CALL_ROLE(cookie) != TS_CALL_SHIM)
		return begin(regs, cookie);
	exclude(bpf_get_current_pid_tgid(), cookie);
	return false;
}

SEC("uprobe.s")
int call_either(struct pt_regs___kernel *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);

	if (bpf_session_is_return()) {
		end(regs, cookie);
		return 0;
	}
	return !begin_any(regs, cookie);
}

SEC("uprobe.s")
int call_begun(struct pt_regs___kernel *regs)
{
	begin_any(regs, bpf_get_attach_cookie(regs));
	return 0;
}

SEC("uprobe.s")
int call_ended(struct pt_regs___kernel *regs)
{
	end(regs, bpf_get_attach_cookie(regs));
	return 0;
}

/*
 * Handles the end of a process, or its change to another program. If the ring has no room for the
 * event, the daemon notices the end of the process without it.
 */
static __always_inline void over(__u64 id)
{
	struct call none = {.start_ns = bpf_ktime_get_ns()};
	__u32 pid = id >> 32;
	struct ts_call_process *process = bpf_map_lookup_elem(&processes, &pid);
	struct ts_call_event *event;

	if (!process)
		return;
	event = bpf_ringbuf_reserve(&call_events, sizeof(*event), 0);
	if (!event)
		return;
	fill(event, TS_CALL_EVENT_OVER, &none, id);
	event->bytes = process->lost;
	bpf_map_delete_elem(&processes, &pid);
	bpf_ringbuf_submit(event, wake_flags());
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exited, struct task_struct *task)
{
	__u64 id = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&calls, &id);
	/* The last thread of the process exits. */
	if (!task->signal->live.counter)
		over(id);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_replaced, struct task_struct *task, int old_pid)
{
	__u64 id = bpf_get_current_pid_tgid(), old = id >> 32 << 32 | (__u32)old_pid;

	bpf_map_delete_elem(&calls, &id);
	bpf_map_delete_elem(&calls, &old);
	over(id);
	return 0;
}

char dual_license[] SEC("license") = "Dual BSD/GPL";
