/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, attaches and detaches the eBPF programs for kernel events by libbpf. hub.c calls this
 * module; system.c calls only ts_bpf_obstacle().
 *
 * Each program is an object of its own: if the kernel refuses one object, the others still load.
 * The first object that has a shared map creates the map; later objects reuse its descriptor. This
 * module also writes the message for each failure, because it knows the cause.
 */
#include "daemon/bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/bpf/bpf-objects.h"
#include "daemon/bpf/ring/cpu-lanes.h"
#include "daemon/util/daemon-error.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define MODULE_TYPES "/sys/kernel/btf/"
/* Inode numbers of the initial namespaces in the kernel: PROC_PID_INIT_INO, PROC_TIME_INIT_INO. */
#define FIRST_PID_NAMESPACE  0xeffffffcu
#define FIRST_TIME_NAMESPACE 0xeffffffau
#define NODES_ENVIRONMENT    "TRACESMITH_GPU_NODES"
#define LOAD_TRIES	     6
#define LOAD_PAUSE_US	     1000u
#define OBJECT_PROCESS	     0
#define OBJECT(program)	     (1 + (program))
#define OBJECT_JOBS	     OBJECT(TS_BPF_N_PROGRAMS)

static const char *const map_names[TS_BPF_N_MAPS] = {
	[TS_BPF_MAP_TRACED] = "traced",
	[TS_BPF_MAP_LOST] = "lost",
	[TS_BPF_MAP_EVENTS] = "events",
	[TS_BPF_MAP_AWAY] = "away",
	[TS_BPF_MAP_DUE] = "due",
	[TS_BPF_MAP_CALLING] = "calling",
	[TS_BPF_MAP_IN_FLIGHT] = "in_flight",
	[TS_BPF_MAP_RECLAIMING] = "reclaiming",
	[TS_BPF_MAP_WAITING] = "waiting",
	[TS_BPF_MAP_WORKING] = "working",
	[TS_BPF_MAP_TALLIES] = "tallies",
	[TS_BPF_MAP_LANES] = "lanes",
	[TS_BPF_MAP_LANE_EVENTS] = "lane_events",
};

/*
 * Parts of a program that some kernels lack. A part is present if at least one function whose name
 * begins with `function` attaches.
 */
static const struct {
	unsigned program;
	const char *function;
	const char *name;
} parts[] = {
	{TS_BPF_MEMORY, "direct_", "direct reclaim"},
	{TS_BPF_MEMORY, "limit_", "reclaim of cgroups"},
	{TS_BPF_MEMORY, "node_", "reclaim of nodes"},
	{TS_BPF_MEMORY, "victim_", "OOM kills"},
	{TS_BPF_DRIVER, "fence_", "dma_fence"},
	{TS_BPF_DRIVER, "job_", "gpu_scheduler"},
	{TS_BPF_DRIVER, "amdgpu_", "amdgpu"},
};

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

/* ---- loading ---- */

/* Lets an object reuse the shared maps that an earlier object created. */
static int share_maps(struct ts_bpf_programs *programs, struct bpf_object *object)
{
	int r = 0;

	for (size_t i = 0; i < TS_BPF_N_MAPS && !r; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, map_names[i]);

		if (map && programs->fds[i] >= 0)
			r = bpf_map__reuse_fd(map, programs->fds[i]);
	}
	return r;
}

static void keep_maps(struct ts_bpf_programs *programs, struct bpf_object *object)
{
	for (size_t i = 0; i < TS_BPF_N_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, map_names[i]);

		if (map && programs->fds[i] < 0)
			programs->fds[i] = bpf_map__fd(map);
	}
}

/*
 * Returns the number of arguments of a tracepoint of vmlinux, or -ENOENT if the tracepoint does not
 * exist.
 */
static int count_arguments(const struct btf *types, const char *tracepoint)
{
	const struct btf_type *type;
	char name[96];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	/*
	 * The type is a pointer to a function. Its first argument is not an argument of the
	 * tracepoint.
	 */
	type = btf__type_by_id(types, btf__type_by_id(types, (uint32_t)id)->type);
	type = type && btf_is_ptr(type) ? btf__type_by_id(types, type->type) : NULL;
	return type && btf_is_func_proto(type) ? btf_vlen(type) - 1 : -ENOENT;
}

/*
 * Chooses the block layer's programs for this kernel: before Linux 5.11, the first argument of the
 * tracepoints was the queue. Looks for the tracepoints in BTF first, because the kernel reports a
 * missing raw tracepoint only when a program is attached to it.
 */
static int choose_block(struct bpf_object *object)
{
	static const char *const tracepoints[] = {"block_bio_queue", "block_rq_issue",
						  "block_rq_complete", "block_bio_complete"};
	struct btf *types = btf__load_vmlinux_btf();
	struct bpf_program *program = NULL;
	int n_arguments = 0;

	for (size_t i = TS_ARRAY_LEN(tracepoints); types && i-- && n_arguments >= 0;)
		n_arguments = count_arguments(types, tracepoints[i]);
	btf__free(types);
	if (n_arguments <= 0)
		return -ENOENT;
	while ((program = bpf_object__next_program(object, program))) {
		const char *name = bpf_program__name(program);
		bool before = strstr(name, "_before_5_11");

		if (before || !strcmp(name, "block_queued") || !strcmp(name, "block_issued"))
			bpf_program__set_autoload(program, before == (n_arguments == 2));
	}
	return 0;
}

/*
 * Chooses the program for mark_victim: before Linux 6.9, the tracepoint's only argument is a thread
 * id.
 */
static int choose_memory(struct bpf_object *object)
{
	struct btf *types = btf__load_vmlinux_btf();
	int n_arguments = types ? count_arguments(types, "mark_victim") : -ENOENT;
	struct bpf_program *program = NULL;

	btf__free(types);
	while ((program = bpf_object__next_program(object, program))) {
		const char *name = bpf_program__name(program);

		if (!strncmp(name, "victim_", 7))
			bpf_program__set_autoload(program,
						  n_arguments ==
							  (strstr(name, "_before_") ? 1 : 2));
	}
	return 0;
}

/* Sets the sizes of the CPUs' lanes, if the object has them. */
static int set_lanes(const struct ts_bpf_programs *programs, struct bpf_object *object)
{
	uint32_t n_cpus = (uint32_t)programs->n_cpus;
	struct bpf_map *lanes = bpf_object__find_map_by_name(object, map_names[TS_BPF_MAP_LANES]);
	struct bpf_map *events =
		bpf_object__find_map_by_name(object, map_names[TS_BPF_MAP_LANE_EVENTS]);

	if (!lanes || !events)
		return 0;
	return bpf_map__set_max_entries(lanes, n_cpus)
		       ?: bpf_map__set_max_entries(events,
						   n_cpus * (uint32_t)ts_bpf_lane_events(n_cpus));
}

static int try_object(struct ts_bpf_programs *programs, const struct ts_bpf_object *bytes,
		      uint32_t wanted, struct bpf_object **ret_object)
{
	struct bpf_object *object = bpf_object__open_mem(bytes->bytes, bytes->n_bytes, NULL);
	struct bpf_program *program;
	int r;

	if (!object)
		return -errno;
	program = bpf_object__find_program_by_name(object, "stack_taken");
	if (program)
		bpf_program__set_autoload(program, wanted & 1u << TS_BPF_STACKS);
	r = bytes == &ts_bpf_object_block    ? choose_block(object)
	    : bytes == &ts_bpf_object_memory ? choose_memory(object)
					     : 0;
	r = r ?: set_lanes(programs, object);
	r = r ?: share_maps(programs, object);
	r = r ?: bpf_object__load(object);
	if (r) {
		bpf_object__close(object);
		return r;
	}
	keep_maps(programs, object);
	*ret_object = object;
	return 0;
}

/*
 * Loads the programs. If a signal is pending for the thread, the kernel stops the verification with
 * -EAGAIN, and libbpf retries at once a few times. So this function blocks signals while it loads.
 * If something else interrupts the kernel (a debugger, a frozen cgroup), this function waits and
 * retries.
 */
static int load_object(struct ts_bpf_programs *programs, const struct ts_bpf_object *bytes,
		       uint32_t wanted, struct bpf_object **ret_object)
{
	sigset_t all, old;
	int r = -EAGAIN;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < LOAD_TRIES && r == -EAGAIN; i++) {
		if (i)
			usleep(LOAD_PAUSE_US << i);
		r = try_object(programs, bytes, wanted, ret_object);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

/*
 * Finds a member of a struct, also in its unnamed structs and unions. `depth` limits their nesting.
 */
static const struct btf_member *find_member(const struct btf *types, const struct btf_type *of,
					    const char *name, unsigned depth)
{
	const struct btf_member *member = of && btf_is_composite(of) ? btf_members(of) : NULL;
	const struct btf_member *found = NULL;

	for (unsigned i = 0; member && i < btf_vlen(of) && !found; i++, member++) {
		const char *own = btf__name_by_offset(types, member->name_off);

		if (own && !strcmp(own, name))
			found = member;
		else if (own && !*own && depth)
			found = find_member(types, btf__type_by_id(types, member->type), name,
					    depth - 1);
	}
	return found;
}

static const struct btf_type *find_struct(const struct btf *types, const char *name)
{
	int id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(types, (uint32_t)id);
}

#define MEMBER_DEPTH 4

/*
 * Chooses how to read the dumpable flag: the flags of an address space are a number before Linux
 * 6.18, and a struct since.
 */
static bool has_dumpable(const struct btf *types)
{
	const struct btf_member *flags =
		find_member(types, find_struct(types, "mm_struct"), "flags", MEMBER_DEPTH);
	int id = flags ? btf__resolve_type(types, flags->type) : -ENOENT;
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(types, (uint32_t)id);

	return type && (btf_is_int(type) || find_member(types, type, "__mm_flags", 0));
}

const char *ts_bpf_credentials_obstacle(const struct btf *types)
{
	static const struct {
		const char *of, *member;
	} needed[] = {
		{"task_struct", "group_leader"},
		{"task_struct", "start_boottime"},
		{"task_struct", "real_cred"},
		{"task_struct", "mm"},
		{"cred", "uid"},
		{"cred", "gid"},
		{"cred", "suid"},
		{"cred", "sgid"},
		{"cred", "euid"},
		{"cred", "egid"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(needed); i++)
		if (!find_member(types, find_struct(types, needed[i].of), needed[i].member,
				 MEMBER_DEPTH))
			return "this kernel's types (" KERNEL_TYPES
			       ") lack the credentials of a thread";
	if (!has_dumpable(types))
		return "this kernel's types (" KERNEL_TYPES
		       ") lack the flags of a process's memory (mm_struct.flags)";
	return NULL;
}

/* Checks the types of the running kernel. */
static const char *credentials_obstacle(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	const char *why = types ? ts_bpf_credentials_obstacle(types)
				: "this kernel's types (" KERNEL_TYPES ") cannot be read";

	btf__free(types);
	return why;
}

/*
 * True if the kernel's file of types is usable. It may not be usable, because a container may mount
 * another file, or an empty one, over it.
 */
static bool has_types(void)
{
	ts_cleanup(ts_closep) int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
	uint16_t magic = 0;

	return fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == BTF_MAGIC;
}

const char *ts_bpf_obstacle(void)
{
	struct stat status;

	if (!stat("/proc/self/ns/pid", &status) && status.st_ino != FIRST_PID_NAMESPACE)
		return "tracesmithd runs in a pid namespace of its own (a container): run it outside";
	/* Event times and process start times use the clocks of the initial time namespace. */
	if (!stat("/proc/self/ns/time", &status) && status.st_ino != FIRST_TIME_NAMESPACE)
		return "tracesmithd runs in a time namespace of its own: run it outside";
	if (!has_types())
		return "this kernel does not publish its types (" KERNEL_TYPES
		       "; CONFIG_DEBUG_INFO_BTF)";
	return NULL;
}

static const char *reason(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "CAP_BPF and CAP_PERFMON are required: run as root, or give tracesmithd both";
	case -ESRCH:
	case -ENOENT:
		return "this kernel lacks the tracepoint";
	case -ENOSYS:
		return "this kernel has no eBPF";
	case -EAGAIN:
		return "signals interrupted the kernel's verification of the program: try again";
	default:
		return strerror(-error);
	}
}

static void complain(struct ts_bpf_programs *programs, const char *names, const char *why)
{
	size_t n = strlen(programs->why);

	snprintf(programs->why + n, sizeof(programs->why) - n, "%s%s: %s", n ? "; " : "", names,
		 why);
}

/*
 * Loads the object `sched` without stacks, after the object with stacks failed with the error
 * `why`. A kernel that does not accept a program that walks stacks may accept the programs that
 * record scheduling intervals.
 */
static int load_without_stacks(struct ts_bpf_programs *programs, int why, uint32_t *wanted)
{
	uint32_t rest = *wanted & ~(1u << TS_BPF_STACKS);
	int r = load_object(programs, &ts_bpf_object_sched, rest,
			    &programs->objects[OBJECT(TS_BPF_SCHED)]);

	if (r)
		return r;
	complain(programs, ts_kernel_program_name(TS_BPF_STACKS), reason(why));
	*wanted = rest;
	return 0;
}

int ts_bpf_programs_load(struct ts_bpf_programs *programs, uint32_t wanted)
{
	static const struct ts_bpf_object *const objects[TS_BPF_N_PROGRAMS] = {
		[TS_BPF_SCHED] = &ts_bpf_object_sched,
		[TS_BPF_FAULTS] = &ts_bpf_object_faults,
		[TS_BPF_SYSCALLS] = &ts_bpf_object_syscalls,
		[TS_BPF_BLOCK] = &ts_bpf_object_block,
		[TS_BPF_MEMORY] = &ts_bpf_object_memory,
		[TS_BPF_DRIVER] = &ts_bpf_object_driver,
	};
	const char *why = ts_bpf_obstacle();
	int n_cpus = libbpf_num_possible_cpus(), r;
	uint32_t asked = wanted;
	char names[96];

	*programs = (struct ts_bpf_programs){.n_cpus = n_cpus > 0 ? (size_t)n_cpus : 1};
	for (size_t i = 0; i < TS_BPF_N_MAPS; i++)
		programs->fds[i] = -1;
	programs->links = calloc(TS_BPF_MAX_LINKS, sizeof(*programs->links));
	if (!programs->links)
		return ts_error_origin(-ENOMEM);
	if (!wanted)
		return 0;
	libbpf_set_print(print_debug);
	if (wanted & 1u << TS_BPF_STACKS)
		wanted |= 1u << TS_BPF_SCHED;
	why = why ?: credentials_obstacle();
	if (!why) {
		r = load_object(programs, &ts_bpf_object_process, wanted,
				&programs->objects[OBJECT_PROCESS]);
		why = r ? reason(r) : NULL;
	}
	if (why) {
		ts_kernel_config_names(asked, names, sizeof(names));
		complain(programs, names, why);
		return 0;
	}
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++) {
		if (!(wanted & 1u << i) || !objects[i])
			continue;
		r = load_object(programs, objects[i], wanted, &programs->objects[OBJECT(i)]);
		if (r && i == TS_BPF_SCHED && wanted & 1u << TS_BPF_STACKS)
			r = load_without_stacks(programs, r, &wanted);
		/* If only stacks were requested, the message names stacks and not sched. */
		if (r)
			complain(programs,
				 ts_kernel_program_name(asked & 1u << i ? i : TS_BPF_STACKS),
				 reason(r));
		else
			programs->loaded |= 1u << i;
	}
	/*
	 * If the kernel's types of these modules cannot be read, jobs are not recorded. The result
	 * is the same as on a machine without these modules.
	 */
	if (programs->loaded & 1u << TS_BPF_DRIVER)
		(void)load_object(programs, &ts_bpf_object_jobs, wanted,
				  &programs->objects[OBJECT_JOBS]);
	if (wanted & 1u << TS_BPF_STACKS) {
		if (programs->loaded & 1u << TS_BPF_SCHED)
			programs->loaded |= 1u << TS_BPF_STACKS;
		else if (asked & 1u << TS_BPF_SCHED)
			complain(programs, ts_kernel_program_name(TS_BPF_STACKS),
				 "stacks require sched, which is missing");
	}
	return 0;
}

/* ---- attaching ---- */

static int keep_link(struct ts_bpf_programs *programs, struct bpf_link *link)
{
	if (!link)
		return -errno;
	if (programs->n_links == TS_BPF_MAX_LINKS) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	programs->links[programs->n_links++] = link;
	return 0;
}

/* Opens a software event on each CPU and attaches the program to every occurrence. */
static int attach_software(struct ts_bpf_programs *programs, struct bpf_program *program,
			   uint64_t config)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
	};
	int r = 0;

	for (int cpu = 0; cpu < (int)programs->n_cpus && !r; cpu++) {
		struct bpf_link *link;
		int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1,
				      PERF_FLAG_FD_CLOEXEC);

		/* This CPU is offline. */
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			return -errno;
		link = bpf_program__attach_perf_event(program, fd);
		r = keep_link(programs, link);
		if (r && !link)
			close(fd);
	}
	return r;
}

/*
 * Attaches one program. If the kernel lacks its tracepoint, the other programs are still attached.
 */
static int attach_part(struct ts_bpf_programs *programs, struct bpf_program *program)
{
	const char *name = bpf_program__name(program);
	int r = keep_link(programs, bpf_program__attach(program));

	for (size_t i = 0; i < TS_ARRAY_LEN(parts); i++) {
		if (strncmp(name, parts[i].function, strlen(parts[i].function)))
			continue;
		programs->attached |= r ? 0 : 1u << i;
		return r == -ENOENT ? 0 : r;
	}
	return r;
}

static int attach_program(struct ts_bpf_programs *programs, struct bpf_program *program)
{
	static const struct {
		const char *name;
		uint64_t config;
	} software[] = {
		{"fault_begun", PERF_COUNT_SW_PAGE_FAULTS},
		{"fault_minor", PERF_COUNT_SW_PAGE_FAULTS_MIN},
		{"fault_major", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(software); i++)
		if (!strcmp(bpf_program__name(program), software[i].name))
			return attach_software(programs, program, software[i].config);
	return attach_part(programs, program);
}

static void add_nodes(int fd, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat status;
		uint32_t device, one = 1;

		if (stat(found.gl_pathv[i], &status) || !S_ISCHR(status.st_mode))
			continue;
		/* The kernel's own encoding of a device number. */
		device = major(status.st_rdev) << 20 | minor(status.st_rdev);
		bpf_map_update_elem(fd, &device, &one, BPF_ANY);
	}
	globfree(&found);
}

/*
 * Finds the device nodes of GPUs. Each attach searches again, because a driver creates its nodes
 * when it is loaded.
 */
static void find_nodes(struct ts_bpf_programs *programs)
{
	static const char *const patterns[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd",
					       "/dev/dri/*"};
	const char *more = secure_getenv(NODES_ENVIRONMENT);
	struct bpf_map *map =
		bpf_object__find_map_by_name(programs->objects[OBJECT(TS_BPF_SYSCALLS)],
					     "gpu_nodes");

	for (size_t i = 0; i < TS_ARRAY_LEN(patterns); i++)
		add_nodes(bpf_map__fd(map), patterns[i]);
	while (more && *more) {
		char path[256];
		size_t n = strcspn(more, ":");

		if (n < sizeof(path)) {
			snprintf(path, sizeof(path), "%.*s", (int)n, more);
			add_nodes(bpf_map__fd(map), path);
		}
		more += n + (more[n] == ':');
	}
}

int ts_bpf_programs_attach(struct ts_bpf_programs *programs)
{
	int r = 0;

	programs->attached = 0;
	if (programs->loaded & 1u << TS_BPF_SYSCALLS)
		find_nodes(programs);
	for (size_t i = 0; i < TS_ARRAY_LEN(programs->objects) && !r; i++) {
		struct bpf_program *program = NULL;

		if (!programs->objects[i])
			continue;
		while (!r && (program = bpf_object__next_program(programs->objects[i], program)))
			r = bpf_program__autoload(program) ? attach_program(programs, program) : 0;
	}
	if (r)
		ts_bpf_programs_detach(programs);
	return r ? ts_error_origin(r) : 0;
}

/*
 * Programs of drivers need the types of modules. The kernel gives these types only to
 * CAP_SYS_ADMIN.
 */
static const char *why_absent(unsigned program)
{
	if (program == TS_BPF_DRIVER && geteuid() &&
	    (!access(MODULE_TYPES "gpu_sched", F_OK) || !access(MODULE_TYPES "amdgpu", F_OK)))
		return "the types of kernel modules require CAP_SYS_ADMIN, which a service without root does not have; use `sudo tsctl record`";
	return reason(-ENOENT);
}

static void complain_absent(struct ts_bpf_programs *programs, unsigned program)
{
	size_t n_there = 0, n = 0;
	char names[128] = "";

	for (size_t i = 0; i < TS_ARRAY_LEN(parts); i++) {
		if (parts[i].program != program)
			continue;
		if (programs->attached & 1u << i)
			n_there++;
		else
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
					      n ? ", " : " without ", parts[i].name);
	}
	if (!n_there) {
		programs->loaded &= ~(1u << program);
		complain(programs, ts_kernel_program_name(program), why_absent(program));
	} else if (n) {
		char text[160];

		snprintf(text, sizeof(text), "%s%s", ts_kernel_program_name(program), names);
		complain(programs, text, why_absent(program));
	}
}

void ts_bpf_programs_report_absent(struct ts_bpf_programs *programs)
{
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++)
		if (programs->loaded & 1u << i && (i == TS_BPF_MEMORY || i == TS_BPF_DRIVER))
			complain_absent(programs, i);
}

void ts_bpf_programs_detach(struct ts_bpf_programs *programs)
{
	while (programs->n_links)
		bpf_link__destroy(programs->links[--programs->n_links]);
}

void ts_bpf_programs_deinit(struct ts_bpf_programs *programs)
{
	ts_bpf_programs_detach(programs);
	for (size_t i = 0; i < TS_ARRAY_LEN(programs->objects); i++)
		bpf_object__close(programs->objects[i]);
	free(programs->links);
}
