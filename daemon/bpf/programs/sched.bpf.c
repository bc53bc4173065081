// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Records why a thread did not run: one event for each interval off a CPU, delivered when the
 * thread is back.
 *
 *     sched_switch, thread leaves:     leave() fills the note in `away`, start_ns is set
 *     sched_waking, sched_migrate_task: add the waker and migrations to the note
 *     sched_switch, thread comes back: come_back() counts it, or copies it to the CPU's lane, or to
 *                                      `due`
 *     sys_exit:                        stack_taken() adds the user stack to a note in `due`
 *
 * `away` has one note for each thread, for the life of the thread. To delete the note and insert it
 * again would cost more than all the rest. start_ns is 0 while the thread is not away.
 */
#include "daemon/bpf/programs/tally.bpf.h"

#define STATE_DEAD 0x80

/* Place of a task's registers on its stack in kernels before Linux 5.15, on x86-64. */
#define STACK_BYTES	16384
#define REGISTERS_BYTES 168

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct ts_bpf_off_cpu);
} away SEC(".maps");

static const struct ts_bpf_off_cpu nothing;

/*
 * Long intervals that have ended and wait for their stack. The stack is read at the end of the
 * system call. The user stack is then the same as in the interval, and short intervals cost
 * nothing. A second long interval in the same call is delivered without a stack.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct ts_bpf_off_cpu);
} due SEC(".maps");

/*
 * Depth of interrupts on this CPU, with soft interrupts and timers. The kernel's own counter has
 * the same information, but not every kernel lets a program find the counter.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} interrupts SEC(".maps");

/* The daemon sets both maps' max_entries before it loads the program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ts_bpf_lane);
} lanes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ts_bpf_off_cpu);
} lane_events SEC(".maps");

static __always_inline __u32 state_of(struct task_struct *task)
{
	struct task_struct___before_5_14 *before = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ(before, state);
}

static __always_inline __u32 *depth(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

static __always_inline int enter_interrupt(void)
{
	__u32 *n = depth();

	if (n)
		(*n)++;
	return 0;
}

/*
 * Counts the end of an interrupt. The first one may have begun before the programs were attached,
 * so the depth never falls below 0.
 */
static __always_inline int leave_interrupt(void)
{
	__u32 *n = depth();

	if (n && *n)
		(*n)--;
	return 0;
}

/*
 * Resets the depth: threads are switched only outside of interrupts. The end of an interrupt can be
 * missed while the programs are being attached, or inside one of the programs.
 */
static __always_inline void forget_interrupts(void)
{
	__u32 *n = depth();

	if (n && *n)
		*n = 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(device_entered)
{
	return enter_interrupt();
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(device_left)
{
	return leave_interrupt();
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entered)
{
	return enter_interrupt();
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_left)
{
	return leave_interrupt();
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(timer_entered)
{
	return enter_interrupt();
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(timer_left)
{
	return leave_interrupt();
}

/*
 * True if the running code is an interrupt. The idle task itself wakes no thread, so a waker with
 * tid 0 is an interrupt.
 */
static __always_inline bool in_interrupt(__u64 caller)
{
	__u32 *n = depth();

	return (n && *n) || !(__u32)caller;
}

/*
 * Records the task's system call and its first argument. If a fault or an interrupt entered the
 * kernel, there is no system call.
 */
static __always_inline void note_syscall(struct ts_bpf_off_cpu *note, struct task_struct *task)
{
	struct pt_regs___kernel *regs;
	unsigned long argument;
	long number;

	/*
	 * The verifier allows direct reads through the pointer of a kernel helper. A computed
	 * pointer needs BPF_CORE_READ().
	 */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		regs = (struct pt_regs___kernel *)bpf_task_pt_regs(task);
		number = (long)regs->orig_ax;
		argument = regs->di;
	} else {
		regs = task->stack + STACK_BYTES - REGISTERS_BYTES;
		number = (long)BPF_CORE_READ(regs, orig_ax);
		argument = BPF_CORE_READ(regs, di);
	}
	note->syscall = number < 0 ? TS_BPF_NO_SYSCALL : (__u32)number;
	note->argument = number < 0 ? 0 : argument;
}

/*
 * Copies a name of 16 bytes as two halves of 8 bytes. The compiler does not know the kernel's
 * alignment, so memcpy() would copy byte by byte.
 */
static __always_inline void copy_name(char *to, const char *from)
{
	*(__u64 *)to = *(const __u64 *)from;
	*(__u64 *)(to + sizeof(__u64)) = *(const __u64 *)(from + sizeof(__u64));
}

static __always_inline void send(struct ts_bpf_off_cpu *note)
{
	if (bpf_ringbuf_output(&events, note, sizeof(*note),
			       wake_flags_at_times(note->event.end_ns)))
		lose(note->event.session, TS_BPF_SCHED);
}

/* Wakes the daemon by an empty record of the ring. The daemon ignores the record. */
static __always_inline void wake_daemon(void)
{
	__u64 nothing_new = 0;

	(void)bpf_ringbuf_output(&events, &nothing_new, sizeof(nothing_new), BPF_RB_FORCE_WAKEUP);
}

/* Puts a note into the CPU's lane. False: the lane is full. */
static __always_inline bool put_in_lane(const struct ts_bpf_off_cpu *note)
{
	__u32 cpu = note->end_cpu, place;
	struct ts_bpf_lane *lane = bpf_map_lookup_elem(&lanes, &cpu);
	struct ts_bpf_off_cpu *event;
	__u64 n, n_events;

	if (!lane)
		return false;
	n = lane->n_written;
	n_events = lane->n_events;
	/* Pairs with ts_bpf_lanes_read(): x86-64 stores no event before this load. */
	if (n - *(volatile __u64 *)&lane->n_read >= n_events)
		return false;
	place = cpu * n_events + (n & (n_events - 1));
	event = bpf_map_lookup_elem(&lane_events, &place);
	if (!event)
		return false;
	*event = *note;
	/* Pairs with ts_bpf_lanes_read(): x86-64 stores in the order of the program. */
	barrier();
	*(volatile __u64 *)&lane->n_written = ++n;
	/* To wake the daemon is an interrupt, so half a lane must be worth it. */
	if (!(n & (n_events / 2 - 1)))
		wake_daemon();
	return true;
}

/*
 * Sends a note from the program of sched_switch: by the CPU's lane, which costs less than the ring.
 * If the lane is full, the ring gets the note.
 */
static __always_inline void send_in_switch(struct ts_bpf_off_cpu *note)
{
	if (!put_in_lane(note))
		send(note);
}

/* Sends the thread's due interval and deletes its notes. */
static __always_inline void forget_thread(__u32 tid)
{
	struct ts_bpf_off_cpu *note = bpf_map_lookup_elem(&due, &tid);

	if (note) {
		send(note);
		bpf_map_delete_elem(&due, &tid);
	}
	if (bpf_map_lookup_elem(&away, &tid))
		bpf_map_delete_elem(&away, &tid);
}

/* Returns the thread's note and inserts it if it is missing. NULL: the map is full. */
static __always_inline struct ts_bpf_off_cpu *note_of(__u32 tid)
{
	struct ts_bpf_off_cpu *note = bpf_map_lookup_elem(&away, &tid);

	if (note)
		return note;
	bpf_map_update_elem(&away, &tid, &nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&away, &tid);
}

/*
 * True if both threads have the same credentials and the same address space. Then the peer may
 * learn of both threads, or of neither.
 */
static __always_inline bool is_sibling(struct task_struct *one, struct task_struct *other)
{
	return one->real_cred == other->real_cred && one->mm == other->mm;
}

/* Records the next thread. The idle task (tid 0) is never hidden. */
static __always_inline void note_next(const struct ts_bpf_traced *settings,
				      struct ts_bpf_off_cpu *note, struct task_struct *prev,
				      struct task_struct *next)
{
	if (next->pid && !is_sibling(prev, next) && !is_shown(BY_TYPE, settings, next)) {
		note->next_tid = TS_BPF_HIDDEN;
		note->next_pid = 0;
		*(__u64 *)note->next = *(__u64 *)(note->next + sizeof(__u64)) = 0;
		return;
	}
	note->next_tid = next->pid;
	note->next_pid = next->tgid;
	copy_name(note->next, next->comm);
}

static __always_inline void leave(const struct ts_bpf_traced *settings, bool preempt,
				  struct task_struct *prev, struct task_struct *next, __u64 now)
{
	__u32 tid = prev->pid, state = state_of(prev);
	struct ts_bpf_off_cpu *note;

	/* A dead thread does not come back. */
	if (state & STATE_DEAD) {
		forget_thread(tid);
		return;
	}
	if (!is_of_peer(BY_TYPE, settings, prev))
		return;
	note = note_of(tid);
	if (!note) {
		lose(settings->session, TS_BPF_SCHED);
		return;
	}
	note->event.session = settings->session;
	note->event.program = TS_BPF_SCHED;
	note->event.tid = tid;
	note->event.pid = prev->tgid;
	note->event.end_ns = 0;
	copy_name(note->event.name, prev->comm);
	note->woken_ns = 0;
	note->state = state;
	note->preempted = preempt;
	note->io_wait = BPF_CORE_READ_BITFIELD(prev, in_iowait);
	note->waker_context = 0;
	note->waker_tid = note->waker_pid = 0;
	note->cpu = note->end_cpu = bpf_get_smp_processor_id();
	note->migrations = 0;
	note_next(settings, note, prev, next);
	note_syscall(note, prev);
	note->event.start_ns = now;
}

static __always_inline bool wants_stack(const struct ts_bpf_traced *settings,
					const struct ts_bpf_off_cpu *note, __u64 ns)
{
	return settings->programs & 1u << TS_BPF_STACKS && note->syscall != TS_BPF_NO_SYSCALL &&
	       ns >= settings->threshold_ns[TS_BPF_STACKS];
}

/*
 * Ends an interval. A thread that is off its CPU cannot change its credentials, so the note of
 * leave() still belongs to the peer.
 */
static __always_inline void come_back(const struct ts_bpf_traced *settings,
				      struct task_struct *next, __u64 now)
{
	__u32 tid = next->pid;
	struct ts_bpf_off_cpu *note = bpf_map_lookup_elem(&away, &tid);

	/* The thread left its CPU before it was watched. */
	if (!note || !is_noted(settings, &note->event))
		return;
	note->event.end_ns = now;
	note->end_cpu = bpf_get_smp_processor_id();
	now -= note->event.start_ns;
	if (is_counted(settings, TS_BPF_SCHED))
		count(&note->event,
		      note->preempted || !note->state ? TS_BPF_PREEMPTED : note->syscall, now);
	else if (now >= settings->threshold_ns[TS_BPF_SCHED] &&
		 (!wants_stack(settings, note, now) ||
		  bpf_map_update_elem(&due, &tid, note, BPF_NOEXIST)))
		send_in_switch(note);
	note->event.start_ns = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 from = prev->tgid, to = next->tgid;
	struct ts_bpf_traced *settings = from ? find_traced(from, TS_BPF_SCHED) : NULL;
	__u64 now = 0;

	forget_interrupts();
	if (settings) {
		now = bpf_ktime_get_ns();
		leave(settings, preempt, prev, next, now);
	}
	/* The idle task belongs to no process. */
	if (to != from)
		settings = to ? find_traced(to, TS_BPF_SCHED) : NULL;
	if (settings)
		come_back(settings, next, now ? now : bpf_ktime_get_ns());
	return 0;
}

/* True if the peer of `task`, which is off its CPU, may learn of the running thread `waker`. */
static __always_inline bool shows_waker(struct task_struct *task, struct task_struct *waker)
{
	__u32 pid = task->tgid;
	struct ts_bpf_traced *settings;

	if (is_sibling(task, waker))
		return true;
	settings = find_traced(pid, TS_BPF_SCHED);
	return settings && is_shown(BY_TYPE, settings, waker);
}

/* Does the same as shows_waker(), for kernels before Linux 5.11. */
static __always_inline bool shows_waker_by_copy(struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct ts_bpf_traced *settings = find_traced(pid, TS_BPF_SCHED);

	return settings && is_shown(BY_COPY, settings, (void *)bpf_get_current_task());
}

static __always_inline void note_waker(struct ts_bpf_off_cpu *note, struct task_struct *task,
				       __u64 caller)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		struct task_struct *waker = bpf_get_current_task_btf();

		/* The idle task is never hidden. */
		if ((__u32)caller && !shows_waker(task, waker))
			goto hide;
		copy_name(note->waker, waker->comm);
	} else {
		if ((__u32)caller && !shows_waker_by_copy(task))
			goto hide;
		bpf_get_current_comm(note->waker, sizeof(note->waker));
	}
	note->waker_tid = (__u32)caller;
	note->waker_pid = caller >> 32;
	return;
hide:
	note->waker_tid = TS_BPF_HIDDEN;
	note->waker_pid = 0;
	*(__u64 *)note->waker = *(__u64 *)(note->waker + sizeof(__u64)) = 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_woken, struct task_struct *task)
{
	/* Only watched threads have a note. */
	__u32 tid = task->pid;
	struct ts_bpf_off_cpu *note = bpf_map_lookup_elem(&away, &tid);
	__u64 caller;

	if (!note || !note->event.start_ns || note->woken_ns)
		return 0;
	caller = bpf_get_current_pid_tgid();
	note->woken_ns = bpf_ktime_get_ns();
	note->waker_context = in_interrupt(caller) ? TS_BPF_WAKER_INTERRUPT : TS_BPF_WAKER_THREAD;
	note_waker(note, task, caller);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrated, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct ts_bpf_off_cpu *note = bpf_map_lookup_elem(&away, &tid);

	if (note)
		note->migrations++;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exited, struct task_struct *task)
{
	forget_thread(task->pid);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(stack_taken)
{
	__u64 caller = bpf_get_current_pid_tgid();
	struct ts_bpf_traced *settings = find_traced(caller >> 32, TS_BPF_STACKS);
	struct ts_bpf_off_cpu_stack *event;
	struct ts_bpf_off_cpu *note;
	__u32 tid = (__u32)caller;
	long n_bytes;

	if (!settings)
		return 0;
	note = bpf_map_lookup_elem(&due, &tid);
	if (!note)
		return 0;
	/*
	 * The system call changed the credentials: the interval belongs to the peer, the stack does
	 * not.
	 */
	if (!is_noted(settings, &note->event) || !is_current_of_peer(settings)) {
		send(note);
		bpf_map_delete_elem(&due, &tid);
		return 0;
	}
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (event) {
		event->interval = *note;
		event->interval.event.program = TS_BPF_STACKS;
		n_bytes =
			bpf_get_stack(ctx, event->frames, sizeof(event->frames), BPF_F_USER_STACK);
		event->n_frames = n_bytes > 0 ? n_bytes / sizeof(event->frames[0]) : 0;
		event->reserved = 0;
		bpf_ringbuf_submit(event, wake_flags());
	} else {
		lose(note->event.session, TS_BPF_SCHED);
	}
	bpf_map_delete_elem(&due, &tid);
	return 0;
}
