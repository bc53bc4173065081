/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a captured program: the table of operations that every executor fills, and the function
 * that runs a program on an executor.
 *
 * An executor does each captured operation on its device, with the captured addresses and handles.
 * The trace is untrusted, so the executor checks every operation. It refuses impossible operations
 * with a reason.
 *
 * Not thread-safe. ts_exec_run() may run as long as the program's kernels. Any thread or signal
 * handler may set `cancel`.
 */
#pragma once

#include "replay/check/check.h"
#include "replay/exec/exec-program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_EXEC_TEXT_BYTES 512u
#define TS_EXEC_TIME_IS_UP "the replay reached its time limit (--time-limit)"
#define TS_EXEC_WAITS                                                                 \
	"the kernel waits for memory that another operation writes; with --check or " \
	"--schedules operations run one at a time: replay without these options"

/* Inputs and outputs of an operation. */
struct ts_exec_io {
	/*
	 * Host data that the operation reads: a module's image, a kernel's arguments, or the source
	 * of a copy or host write.
	 */
	const struct ts_exec_content *content;
	uint8_t *out; /* host buffer for the operation's output: rows without gaps */
	size_t out_bytes;
	char *text; /* buffer of TS_EXEC_TEXT_BYTES for one line: the reason for a refusal */
	/* Set to CUDA's error if the operation is refused because a kernel faulted; may be NULL. */
	int *fault;
};

struct ts_exec_schedule;
struct ts_exec_difference;
struct ts_ptx_debugger;

struct ts_exec_options {
	/*
	 * Number of CPU threads for kernels; 0: one for each CPU. With 1, kernels give the same
	 * results in each run.
	 */
	uint32_t n_threads;
	/* Checks that receive all accesses (replay/check). Then n_threads is 1. NULL: none. */
	struct ts_check *check;
	/*
	 * The engine calls the debugger before every instruction of every kernel
	 * (replay/vgpu/ptx/debug.h). Operations then run one after the other, and n_threads is 1.
	 * NULL: none.
	 */
	const struct ts_ptx_debugger *debugger;
	/* limit of the memory of all devices together; 0: that of their models */
	uint64_t device_bytes;
	/*
	 * Called before each operation. `counts`: the operation is selected. When a run begins,
	 * `operation` is NULL. May be NULL.
	 */
	void (*next)(void *userdata, const struct ts_row_operation *operation, bool counts);
	void *next_userdata;
	/*
	 * Interval of check points, counted in selected operations that may write memory; 0: none.
	 * At a check point, the memory that these operations may have written is hashed into a
	 * result. A check point waits for all running work. With a schedule, operations run earlier
	 * or later. Then the interval counts only operations for which the host waits for all work.
	 */
	uint64_t points_every;
	uint64_t time_ns; /* time limit of a replay; 0: none */
	/*
	 * A copy's output is kept until the replay reaches the operation with the captured result.
	 * Limit of the bytes that are kept; 0: TS_EXEC_KEPT_BYTES.
	 */
	uint64_t kept_bytes;
	/*
	 * End after this result, counted from 1, and keep its bytes. 0: end after the last
	 * operation.
	 */
	uint64_t wanted;
	/*
	 * A difference between earlier runs: keep the bytes of the result that has this difference.
	 * NULL: none.
	 */
	const struct ts_exec_difference *kept;
	/* Order of execution (exec-schedule.h); then n_threads is 1. NULL: as captured. */
	struct ts_exec_schedule *schedule;
	/*
	 * Modules compiled by earlier replays, for later ones (compiled.h). Only for vgpu.
	 * NULL: none.
	 */
	struct ts_exec_compiled *compiled;
};

#define TS_EXEC_KEPT_BYTES  (UINT64_C(1) << 30)
#define TS_EXEC_MAX_RESULTS (16u << 20)

/* Notes about a run: its device, and deviations from the captured conditions. */
#define TS_EXEC_MAX_NOTES 16u
struct ts_exec_notes {
	char device[TS_EXEC_TEXT_BYTES]; /* "": none */
	uint32_t n;
	uint64_t n_more; /* notes that are not listed */
	char texts[TS_EXEC_MAX_NOTES][TS_EXEC_TEXT_BYTES];
};

struct ts_executor {
	const char *name;
	/*
	 * Creates the executor's state. `cancel`, if not NULL, and the options' time limit also end
	 * running kernels.
	 */
	int (*new_)(const struct ts_exec_program *program, const struct ts_exec_options *options,
		    const volatile int *cancel, char *text, void **ret_state);
	void (*free_)(void *state);
	/*
	 * The functions that do operations, by kind of operation. Each returns 0, -errno, or
	 * TS_EXEC_E_REFUSED with io->text. NULL: the executor has nothing to do for this kind.
	 * Output to the host is complete when the function returns.
	 */
	int (*operations[TS_OPERATION_COUNT])(void *state, const struct ts_row_operation *operation,
					      const struct ts_exec_io *io);
	/*
	 * Called when the host calls a launch, although the launch may run after later operations.
	 * Does the side effects of a kernel's first launch at once, so they are the same in any
	 * order. NULL: none.
	 */
	void (*prepare_launch)(void *state, const struct ts_row_operation *operation,
			       const struct ts_exec_io *io);
	/* Waits for all work. */
	int (*finish)(void *state, const struct ts_exec_io *io);
	/*
	 * Calls `each` for every allocation, in ascending order of address. The caller ensures that
	 * no work is running.
	 */
	int (*memory)(void *state,
		      int (*each)(void *userdata, uint64_t address, const uint8_t *bytes,
				  uint64_t n_bytes),
		      void *userdata);
	/*
	 * Returns a pointer to n_bytes of device memory; NULL if no allocation contains them. The
	 * caller ensures that no work is running.
	 */
	const uint8_t *(*bytes)(void *state, uint64_t address, uint64_t n_bytes);
	/*
	 * Called at the end of a run to collect the executor's notes. NULL: the executor has none.
	 */
	void (*report_notes)(void *state, struct ts_exec_notes *notes);
};

extern const struct ts_executor ts_exec_vgpu;
/*
 * A real device through libcuda.so.1. The trace's code runs on the device, and only the driver
 * limits it. Ignores the options `check`, `debugger` and `schedule`.
 */
extern const struct ts_executor ts_exec_cuda;
/* The same through libamdhip64. */
extern const struct ts_executor ts_exec_hip;
/*
 * True if a replay left a running kernel on the device. Then no other replay can begin. The process
 * should end by _exit(), because the driver may wait at a normal exit.
 */
bool ts_exec_cuda_is_left(void);

/* Kind of a result. */
enum ts_exec_result_kind {
	TS_EXEC_RESULT_READ, /* bytes that an operation wrote to the host */
	/* memory that an operation may have written, read after the operation */
	TS_EXEC_RESULT_POINT,
	TS_EXEC_RESULT_END, /* memory at the end */
};

/* The first difference between a replay and its reference. */
struct ts_exec_difference {
	bool found;
	enum ts_exec_result_kind kind;
	uint64_t sequence; /* the operation's sequence number; at the end: 0 */
	uint64_t op_id;
	/*
	 * Device address of the first differing byte. For an output to the host: the address from
	 * which the byte was read.
	 */
	uint64_t address;
	uint64_t offset;   /* offset of the differing byte in the output or in the allocation */
	uint64_t bytes;	   /* size of the output or of the allocation */
	uint32_t n_before; /* equal bytes before the differing one */
	uint8_t before[8]; /* those equal bytes; the last one is next to the differing byte */
	uint32_t n;	   /* valid bytes in the next two arrays */
	uint8_t expected[16];
	uint8_t found_bytes[16];
};

/* Results of a run, for comparison with another run. */
struct ts_exec_results {
	struct ts_exec_result *results;
	size_t n, capacity;
	/*
	 * Bytes of one result: the first that differs from the earlier run, or the result number
	 * `wanted`.
	 */
	uint8_t *bytes;
	uint64_t n_bytes;
	size_t number; /* number of the result whose bytes are kept, from 1; 0: none */
};
void ts_exec_results_deinit(struct ts_exec_results *results);

/* A check point: one digest of all results of the check point. */
struct ts_exec_point {
	uint64_t sequence;
	uint64_t op_id;
	uint64_t n_bytes;
	uint64_t digest[2]; /* hash of addresses, lengths and contents */
};
/* Returns the next check point from *at, which starts at 0. False: no more. */
bool ts_exec_results_point(const struct ts_exec_results *results, size_t *at,
			   struct ts_exec_point *ret_point);

struct ts_exec_report {
	uint64_t n_operations; /* selected operations that ran, including those without effect */
	uint64_t n_before;     /* unselected operations that ran to restore the state */
	uint64_t n_points;     /* check points */
	uint64_t n_launches, n_copies, n_fills;
	uint64_t n_checks;	/* results compared with the capture's */
	uint64_t n_unchecked;	/* results without a captured counterpart */
	uint64_t n_unsupported; /* unsupported operations that the run passed */
	uint64_t n_memory;	/* allocations at the end */
	uint64_t elapsed_ns;
	struct ts_exec_difference capture; /* from the capture */
	/* the first difference from the results given as `before` */
	struct ts_exec_difference first;
	uint64_t refused; /* sequence number of the refused operation; 0: none */
	uint64_t refused_op_id;
	uint64_t launch_op_id;	       /* op_id of the last started launch; 0: none */
	char text[TS_EXEC_TEXT_BYTES]; /* why the operation was refused */
	int fault;		       /* CUDA's error if a kernel's fault is the reason; else 0 */
	struct ts_exec_notes notes;
};

/*
 * True if the run was refused only because it exceeded its time or waited forever. Then the report
 * shows nothing about the program.
 */
bool ts_exec_is_unfinished(const struct ts_exec_report *report);

/*
 * Runs the program on an executor, one operation after the other, up to the first that is refused.
 * For a selection, runs only the required operations. Compares every result with the capture's, and
 * with `before` if it is not NULL. `results` receives this run's results. Returns 0 also for
 * differences and refused operations: the report has them. Other values: -ENOMEM, -ECANCELED, an
 * error of the reader, or TS_EXEC_E_REFUSED if there is no such device; the report's text explains
 * why.
 */
int ts_exec_run(const struct ts_exec_program *program, const struct ts_executor *executor,
		const struct ts_exec_options *options, const struct ts_exec_results *before,
		const volatile int *cancel, struct ts_exec_results *results,
		struct ts_exec_report *ret_report);

/*
 * Adds the place and both values to report->first of a run that differs from `before`. `before` has
 * only hashes, so the function repeats the earlier run, with its options, up to the differing
 * result. If the repeated run gives another result, the report stays unchanged.
 */
int ts_exec_values(const struct ts_exec_program *program, const struct ts_executor *executor,
		   const struct ts_exec_options *options, const struct ts_exec_results *before,
		   const struct ts_exec_results *now, const volatile int *cancel,
		   struct ts_exec_report *report);

#ifdef __cplusplus
}
#endif
