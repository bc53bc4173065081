/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doing a captured program again: the one table that every executor fills, and what runs a program on one.
 *
 * An executor makes of a captured operation one on its device, with addresses and handles as they were. It never trusts one:
 * the trace is a stranger's. What cannot be done is refused, by name.
 *
 * One thread; ts_exec_run() may take as long as the program's kernels do. `cancel` may be set from anywhere, a signal handler
 * too.
 */
#pragma once

#include "replay/check/check.h"
#include "replay/exec/exec-program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_EXEC_TEXT_BYTES 512u
#define TS_EXEC_TIME_IS_UP "the time that a replay may take is over"
#define TS_EXEC_WAITS                                                                            \
	"its kernel only waits for memory that another operation is to write, and with --check " \
	"and --schedules each operation is over before the next begins: without them it may end"

/* What an operation is done with. */
struct ts_exec_io {
	const struct ts_exec_content
		*content; /* what it reads from the host: its image, arguments, bytes */
	uint8_t *out;	  /* where it writes to on the host: its rows without gaps */
	size_t out_bytes;
	char *text; /* TS_EXEC_TEXT_BYTES: why it is refused, one line */
	int *fault; /* CUDA's error, set if the operation is refused because a kernel faulted; or NULL */
};

struct ts_exec_schedule;
struct ts_exec_difference;
struct ts_ptx_debugger;

struct ts_exec_options {
	uint32_t
		n_threads; /* CPUs for kernels; 1: what they compute is the same each time; 0: all */
	struct ts_check *check; /* looks on (replay/check): then n_threads is 1; or NULL */
	/*
	 * Is asked before every instruction of every kernel (replay/vgpu/ptx/debug.h); operations are then done one after the
	 * other, and n_threads is 1. Or NULL.
	 */
	const struct ts_ptx_debugger *debugger;
	uint64_t device_bytes; /* memory that all devices have at most; 0: what their kinds have */
	/* Before each operation, and whether it counts; NULL: a run begins. Or NULL. */
	void (*next)(void *userdata, const struct ts_row_operation *operation, bool counts);
	void *next_userdata;
	/*
	 * Check points: after so many operations that count and may have written memory, all that they may have written is a
	 * result. A check point waits for all that is under way. With a schedule, in which operations come earlier or later, there are
	 * some after those alone for which the host waited for all there was: after each so many of them. 0: there are none.
	 */
	uint64_t points_every;
	uint64_t time_ns;    /* that a replay may take; 0: as long as it likes */
	uint64_t kept_bytes; /* of results, until the capture's come; 0: TS_EXEC_KEPT_BYTES */
	uint64_t
		wanted; /* end with this result, counted from 1, and keep its bytes; 0: with the last operation */
	const struct ts_exec_difference
		*kept; /* the result that differs here keeps its bytes; or NULL */
	/* The order in which all is done (exec-schedule.h): then n_threads is 1. NULL: the capture's. */
	struct ts_exec_schedule *schedule;
	struct ts_exec_compiled *
		compiled; /* from replays before, and for those after it (compiled.h): vgpu's; or NULL */
};

#define TS_EXEC_KEPT_BYTES  (UINT64_C(1) << 30)
#define TS_EXEC_MAX_RESULTS (16u << 20)

/* What else is to be said of a run: on what it was, and where it could not be as it was. */
#define TS_EXEC_MAX_NOTES 16u
struct ts_exec_notes {
	char device[TS_EXEC_TEXT_BYTES]; /* "": there is nothing to be said of it */
	uint32_t n;
	uint64_t n_more; /* that are not listed */
	char texts[TS_EXEC_MAX_NOTES][TS_EXEC_TEXT_BYTES];
};

struct ts_executor {
	const char *name;
	/* `cancel`, where it is not NULL, and the options' time end kernels that run, too. */
	int (*new_)(const struct ts_exec_program *program, const struct ts_exec_options *options,
		    const volatile int *cancel, char *text, void **ret_state);
	void (*free_)(void *state);
	/*
	 * By kind. 0, -errno, or TS_EXEC_E_REFUSED and io->text. NULL: nothing to do on this executor. When it returns, what it
	 * writes to the host is there.
	 */
	int (*operations[TS_OPERATION_COUNT])(void *state, const struct ts_row_operation *operation,
					      const struct ts_exec_io *io);
	/*
	 * The host calls for a launch, which may be done behind others that are called for later: what its first launch would
	 * bring about is brought about now, so that it is the same in any order. NULL: there is nothing such.
	 */
	void (*prepare_launch)(void *state, const struct ts_row_operation *operation,
			       const struct ts_exec_io *io);
	/* Waits for all there is. */
	int (*finish)(void *state, const struct ts_exec_io *io);
	/* Calls `each` for every allocation, in ascending order of address, all work being over. */
	int (*memory)(void *state,
		      int (*each)(void *userdata, uint64_t address, const uint8_t *bytes,
				  uint64_t n_bytes),
		      void *userdata);
	/* Where so many bytes of the device's memory lie, all work being over; NULL: they are in no allocation. */
	const uint8_t *(*bytes)(void *state, uint64_t address, uint64_t n_bytes);
	/* When all is over. NULL: there is nothing to be said. */
	void (*report_notes)(void *state, struct ts_exec_notes *notes);
};

extern const struct ts_executor ts_exec_vgpu;
/*
 * A real device, or whatever libcuda.so.1 is. What the trace has as code runs there, and nothing bounds it but the driver. The
 * options' check, debugger and schedule it does not know.
 */
extern const struct ts_executor ts_exec_cuda;
/* A replay left a kernel there that runs still: no other can begin, and the process should end by _exit(): the driver may wait. */
bool ts_exec_cuda_is_left(void);

/* What a result is of. */
enum ts_exec_result_kind {
	TS_EXEC_RESULT_READ,  /* what an operation wrote to the host */
	TS_EXEC_RESULT_POINT, /* memory that an operation may have written, after it */
	TS_EXEC_RESULT_END,   /* memory at the end */
};

/* Where a replay is not what it is compared with. */
struct ts_exec_difference {
	bool found;
	enum ts_exec_result_kind kind;
	uint64_t sequence; /* of the operation; at the end: 0 */
	uint64_t op_id;
	uint64_t
		address; /* of the first byte that differs: where the operation read it, or where it lies */
	uint64_t offset;   /* of that byte in what was written, or in the allocation */
	uint64_t bytes;	   /* of what was written, or of the allocation */
	uint32_t n_before; /* bytes in front of it, the same in both */
	uint8_t before[8]; /* those: the last one is the nearest */
	uint32_t n;	   /* bytes of the following that there are */
	uint8_t expected[16];
	uint8_t found_bytes[16];
};

/* A run's results, by which another is compared with it. */
struct ts_exec_results {
	struct ts_exec_result *results;
	size_t n, capacity;
	/* Of one of them the bytes: of the first that differs from the run before, or of the one that was wanted. */
	uint8_t *bytes;
	uint64_t n_bytes;
	size_t number; /* counted from 1; 0: none */
};
void ts_exec_results_deinit(struct ts_exec_results *results);

/* A check point: what all its results together are. */
struct ts_exec_point {
	uint64_t sequence;
	uint64_t op_id;
	uint64_t n_bytes;
	uint64_t digest[2]; /* of addresses, lengths and contents */
};
/* The next one from *at on, which is 0 at first. False: there is none. */
bool ts_exec_results_point(const struct ts_exec_results *results, size_t *at,
			   struct ts_exec_point *ret_point);

struct ts_exec_report {
	uint64_t n_operations; /* that count and were done, those without an effect included */
	uint64_t n_before; /* that were done before, or between them, so that all is as it was */
	uint64_t n_points; /* check points */
	uint64_t n_launches, n_copies, n_fills;
	uint64_t n_checks;	/* results that were compared with the capture's */
	uint64_t n_unchecked;	/* whose capture has no result */
	uint64_t n_unsupported; /* operations that are named so, up to where it ended */
	uint64_t n_memory;	/* allocations at the end */
	uint64_t elapsed_ns;
	struct ts_exec_difference capture; /* from the capture */
	struct ts_exec_difference first;   /* from the run before, given in `before` */
	uint64_t refused; /* the sequence of the operation that could not be done; 0: all were */
	uint64_t refused_op_id;
	uint64_t launch_op_id;	       /* the last launch that was begun; 0: none */
	char text[TS_EXEC_TEXT_BYTES]; /* why */
	int fault;		       /* CUDA's error if a kernel's fault is why; 0: it is not */
	struct ts_exec_notes notes;
};

/* What could not be done took too long, here: that says nothing of the program. */
bool ts_exec_is_unfinished(const struct ts_exec_report *report);

/*
 * Does the program, or of a selection as much as it needs, on an executor, each operation after the one before, up to the first that cannot be done. Every result that
 * the capture has is compared with it, and, where `before` is not NULL, with that run's; `results` gets this run's. Returns 0
 * also where things differ or an operation was refused: the report says so. -ENOMEM, -ECANCELED, an error of the reader's,
 * TS_EXEC_E_REFUSED: there is no such device, the report's text says why.
 */
int ts_exec_run(const struct ts_exec_program *program, const struct ts_executor *executor,
		const struct ts_exec_options *options, const struct ts_exec_results *before,
		const volatile int *cancel, struct ts_exec_results *results,
		struct ts_exec_report *ret_report);

/*
 * Of a run that differs from the one before: where in the result, and what was there then, which `before` has as a hash alone: the
 * run before is done again as far as that. Its options are as they were. The report stays as it is where that comes out otherwise.
 */
int ts_exec_values(const struct ts_exec_program *program, const struct ts_executor *executor,
		   const struct ts_exec_options *options, const struct ts_exec_results *before,
		   const struct ts_exec_results *now, const volatile int *cancel,
		   struct ts_exec_report *report);

#ifdef __cplusplus
}
#endif
