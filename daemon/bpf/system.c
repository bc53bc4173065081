/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads system.bpf.c and puts its probes on the files of the vendors' libraries.
 * serve/system/observer.c loads the programs and reads the events; serve/system/prober.c puts the
 * probes on files. This module calls libbpf, call-functions.c and ts_bpf_obstacle().
 *
 * All probes of a file are one link of the kernel (uprobe_multi, from Linux 6.6). The kernel
 * removes a link at once, but needs a tenth of a second for each probe without a link. The link is
 * made by the system call itself, so an older libbpf, which does not know such links, is enough.
 */
#include "daemon/bpf/system.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "daemon/bpf/bpf-objects.h"
#include "daemon/bpf/programs.h"
#include "daemon/util/daemon-error.h"

#define MAX_PLACES 512

/* Values of linux/bpf.h. The installed headers may be older than the running kernel. */
#define UPROBE_MULTI	    48 /* BPF_TRACE_UPROBE_MULTI */
#define UPROBE_SESSION	    57 /* BPF_TRACE_UPROBE_SESSION */
#define UPROBE_MULTI_RETURN 1  /* BPF_F_UPROBE_MULTI_RETURN */
#define COMMAND_CREATE_LINK 28 /* BPF_LINK_CREATE */

/* The fields of union bpf_attr for a link of many probes. */
struct link_attributes {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, reference_counters, cookies;
	uint32_t n_offsets, multi_flags, pid, reserved;
};

struct ts_system {
	struct bpf_object *object;
	struct bpf_link *links[2];
	struct ring_buffer *ring;
	int processes_fd, unattributed_fd, calls_fd;
	struct ts_system_programs programs;
	ts_system_taker *take;
	void *data;
};

/* ---- loading ---- */

static const char *reason(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "CAP_BPF and CAP_PERFMON are required, and CAP_SYS_PTRACE for other users' processes: run as root, or give tracesmithd all three";
	case -EINVAL:
	case -ENOTSUP:
	case -E2BIG:
		return "Linux 6.6 or newer is required (uprobes in one link)";
	case -ENOSYS:
		return "this kernel has no eBPF";
	case -EAGAIN:
		return "signals interrupted the kernel's verification of the programs: try again";
	default:
		return strerror(-error);
	}
}

static int print_debug(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char text[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	ts_log(TS_LOG_DEBUG, "%s", text);
	return 0;
}

static void choose(struct bpf_object *object, const char *name, bool wanted, int type)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	bpf_program__set_autoload(program, wanted);
	bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)type);
}

static int program_fd(struct bpf_object *object, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(object, name));
}

static int load(struct ts_system *system, bool either)
{
	struct bpf_object *object = bpf_object__open_mem(ts_bpf_object_system.bytes,
							 ts_bpf_object_system.n_bytes, NULL);
	int r;

	if (!object)
		return -errno;
	choose(object, "call_either", either, UPROBE_SESSION);
	choose(object, "call_begun", !either, UPROBE_MULTI);
	choose(object, "call_ended", !either, UPROBE_MULTI);
	r = bpf_object__load(object);
	if (r) {
		bpf_object__close(object);
		return r;
	}
	system->object = object;
	system->programs.either = either;
	system->programs.fds[0] = program_fd(object, either ? "call_either" : "call_begun");
	system->programs.fds[1] = either ? -1 : program_fd(object, "call_ended");
	system->processes_fd = bpf_object__find_map_fd_by_name(object, "processes");
	system->calls_fd = bpf_object__find_map_fd_by_name(object, "calls");
	system->unattributed_fd = bpf_object__find_map_fd_by_name(object, "unattributed");
	return 0;
}

static int attach(struct ts_system *system, size_t i, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(system->object, name);

	system->links[i] = bpf_program__attach(program);
	return system->links[i] ? 0 : -errno;
}

/* ---- probes ---- */

static int create_link(int program, const char *path, int attach_type, uint32_t flags,
		       const uint64_t *offsets, const uint64_t *cookies, uint32_t n)
{
	struct link_attributes attributes = {
		.program = (uint32_t)program,
		.attach_type = (uint32_t)attach_type,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.n_offsets = n,
		.multi_flags = flags,
	};
	int fd = (int)syscall(SYS_bpf, COMMAND_CREATE_LINK, &attributes, sizeof(attributes));

	return fd < 0 ? -errno : fd;
}

static int link_file(const struct ts_system_programs *programs, const char *path,
		     const uint64_t *offsets, const uint64_t *cookies, uint32_t n,
		     struct ts_system_probes *ret_probes)
{
	struct ts_system_probes probes = TS_SYSTEM_NO_PROBES;
	int type = programs->either ? UPROBE_SESSION : UPROBE_MULTI;

	/* The return probes come first, so every call whose begin is seen has its end seen too. */
	for (int i = programs->either ? 0 : 1; i >= 0; i--) {
		probes.fds[i] = create_link(programs->fds[i], path, type,
					    i ? UPROBE_MULTI_RETURN : 0, offsets, cookies, n);
		if (probes.fds[i] < 0) {
			int r = probes.fds[i];

			ts_system_remove(&probes);
			return r;
		}
	}
	*ret_probes = probes;
	return 0;
}

struct ts_system_programs ts_system_programs(const struct ts_system *system)
{
	return system->programs;
}

int ts_system_probe(const struct ts_system_programs *programs, int fd, const uint64_t *places,
		    struct ts_system_probes *ret_probes)
{
	const struct ts_call_function *functions;
	uint64_t offsets[MAX_PLACES], cookies[MAX_PLACES];
	size_t n_functions;
	char path[32];
	uint32_t n = 0;
	int r;

	functions = ts_call_functions(&n_functions);
	for (size_t i = 0; i < n_functions && n < MAX_PLACES; i++) {
		bool known = !places[i];

		/* If several names have the same place, the first name is used. */
		for (uint32_t at = 0; at < n && !known; at++)
			known = offsets[at] == places[i];
		if (known)
			continue;
		offsets[n] = places[i];
		cookies[n++] = functions[i].cookie;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = link_file(programs, path, offsets, cookies, n, ret_probes);
	return r ? ts_error_origin(r) : 0;
}

void ts_system_remove(struct ts_system_probes *probes)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(probes->fds); i++) {
		if (probes->fds[i] >= 0)
			close(probes->fds[i]);
		probes->fds[i] = -1;
	}
}

void ts_system_forget_calls(struct ts_system *system)
{
	uint64_t key;

	/* The probes are removed, so no program adds calls meanwhile. */
	while (!bpf_map_get_next_key(system->calls_fd, NULL, &key))
		if (bpf_map_delete_elem(system->calls_fd, &key))
			break;
}

/*
 * Checks that the kernel allows links of many probes: tries to make one at an impossible offset. If
 * the kernel does not allow them, the error is -EPERM, -EACCES or -ENOTSUP; otherwise the error is
 * about the offset.
 */
static int check_links(struct ts_system *system)
{
	uint64_t nowhere = UINT64_C(1) << 62;
	int type = system->programs.either ? UPROBE_SESSION : UPROBE_MULTI;
	int r = create_link(system->programs.fds[0], "/proc/self/exe", type, 0, &nowhere, &nowhere,
			    1);

	if (r >= 0)
		close(r);
	return r == -EPERM || r == -EACCES || r == -ENOTSUP ? r : 0;
}

/* ---- events ---- */

static int on_event(void *data, void *bytes, size_t n_bytes)
{
	struct ts_system *system = data;
	const struct ts_call_event *event = bytes;
	size_t n_functions;

	ts_call_functions(&n_functions);
	if (n_bytes < sizeof(*event) || event->number >= n_functions ||
	    n_bytes != (event->type == TS_CALL_EVENT_NAME ? sizeof(struct ts_call_name)
							  : sizeof(*event)))
		return 0;
	system->take(system->data, event);
	return 0;
}

void ts_system_take(struct ts_system *system, ts_system_taker *take, void *data)
{
	system->take = take;
	system->data = data;
	ring_buffer__consume(system->ring);
}

int ts_system_fd(const struct ts_system *system)
{
	return ring_buffer__epoll_fd(system->ring);
}

uint64_t ts_system_lost(struct ts_system *system, pid_t pid)
{
	struct ts_call_process process;
	uint32_t key = (uint32_t)pid;

	return bpf_map_lookup_elem(system->processes_fd, &key, &process) ? 0 : process.lost;
}

uint64_t ts_system_unattributed(struct ts_system *system)
{
	uint32_t key = 0;
	uint64_t n;

	return bpf_map_lookup_elem(system->unattributed_fd, &key, &n) ? 0 : n;
}

int ts_system_exclude(struct ts_system *system, pid_t pid, bool excluded)
{
	struct ts_call_process process = {.seen = 1};
	uint32_t key = (uint32_t)pid;

	/*
	 * The update overwrites a change of `lost` between both calls. Nothing is missed: calls of
	 * an excluded process are not counted.
	 */
	(void)bpf_map_lookup_elem(system->processes_fd, &key, &process);
	process.excluded = excluded;
	return bpf_map_update_elem(system->processes_fd, &key, &process, BPF_ANY);
}

void ts_system_forget(struct ts_system *system, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(system->processes_fd, &key);
}

/* ---- new and free ---- */

static int start(struct ts_system *system, bool pairs)
{
	sigset_t all, old;
	int r;

	libbpf_set_print(print_debug);
	/* A pending signal makes the kernel stop verifying: see load_object() in programs.c. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pairs ? -ENOTSUP : load(system, true);
	if (r)
		r = load(system, false);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	r = r ?: check_links(system);
	r = r ?: attach(system, 0, "thread_exited");
	r = r ?: attach(system, 1, "process_replaced");
	if (r)
		return r;
	system->ring =
		ring_buffer__new(bpf_object__find_map_fd_by_name(system->object, "call_events"),
				 on_event, system, NULL);
	return system->ring ? 0 : -errno;
}

int ts_system_new(bool pairs, struct ts_system **ret_system, char why[TS_SYSTEM_WHY_BYTES])
{
	struct ts_system *system = calloc(1, sizeof(*system));
	const char *what = ts_bpf_obstacle();
	int r = what ? -ENOTSUP : 0;

	if (!system) {
		snprintf(why, TS_SYSTEM_WHY_BYTES, "out of memory");
		return ts_error_origin(-ENOMEM);
	}
	r = r ?: start(system, pairs);
	if (r) {
		snprintf(why, TS_SYSTEM_WHY_BYTES, "%s", what ? what : reason(r));
		ts_system_free(system);
		return ts_error_trace(r);
	}
	*ret_system = system;
	return 0;
}

void ts_system_free(struct ts_system *system)
{
	if (!system)
		return;
	for (size_t i = 0; i < TS_ARRAY_LEN(system->links); i++)
		bpf_link__destroy(system->links[i]);
	ring_buffer__free(system->ring);
	bpf_object__close(system->object);
	free(system);
}
