/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-emulate [OPERATIONS]: operations of a training job per second, on one core, by processor
 * time. Measures four parts of replay/emulate:
 *
 * - reading a file into a program: the first time, and with memory that this process used before;
 * - the simulation in virtual time alone;
 * - a run with its figures and the critical path;
 * - a run with an edit.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/emulate/simulate.h"
#include "sbt/reader.h"
#include "test/bench/bench.h"
#include "test/bench/trainfile.h"

#define PASSES 3
/* steps of the path that a result has, as in `tsctl replay` */
#define N_STEPS 10

static struct ts_sbt_reader *make(uint64_t n_wanted)
{
	struct ts_sbt_reader *reader;
	uint64_t n, n_bytes;
	int fd = memfd_create("bench", MFD_CLOEXEC);

	ts_bench_check(ts_training_file(dup(fd), n_wanted, &n, &n_bytes), "write");
	ts_bench_check(ts_sbt_reader_open(fd, &reader, NULL), "open");
	close(fd);
	return reader;
}

static struct ts_emulate_program *read_program(struct ts_sbt_reader *reader)
{
	const struct ts_emulate_options options = {0};
	struct ts_emulate_program *program;

	ts_bench_check(ts_emulate_read(reader, &options, &program), "program");
	return program;
}

/* Returns a program. *ret_first_s: the time of the first pass, *ret_best_s: the best of PASSES. */
static struct ts_emulate_program *time_read(struct ts_sbt_reader *reader, double *ret_first_s,
					    double *ret_best_s)
{
	struct ts_emulate_program *program = NULL;

	for (int i = 0; i < PASSES; i++) {
		double start_s, s;

		ts_emulate_program_free(program);
		start_s = ts_bench_cpu_s();
		program = read_program(reader);
		s = ts_bench_cpu_s() - start_s;
		if (!i)
			*ret_first_s = s;
		*ret_best_s = !i || s < *ret_best_s ? s : *ret_best_s;
	}
	return program;
}

static void simulate(const struct ts_emulate_program *program)
{
	struct ts_emulate_run run;

	ts_bench_check(ts_emulate_run_init(&run, program), "run");
	ts_bench_check(ts_emulate_simulate(program, &run), "simulation");
	ts_bench_check(run.n_ops == program->n_ops ? 0 : 1, "operations that ran");
	ts_emulate_run_deinit(&run);
}

static void run(const struct ts_emulate_program *program)
{
	struct ts_emulate_result *result;

	ts_bench_check(ts_emulate_run(program, NULL, 0, NULL, N_STEPS, &result, NULL), "run");
	ts_emulate_result_free(result);
}

static void run_edited(const struct ts_emulate_program *program)
{
	char message[TS_EMULATE_TEXT_BYTES];
	struct ts_emulate_result *result;
	struct ts_emulate_edit edit;

	ts_bench_check(ts_emulate_edit_parse("host=2x", &edit, message), "edit");
	ts_bench_check(ts_emulate_run(program, &edit, 1, NULL, N_STEPS, &result, message),
		       "edited run");
	ts_emulate_result_free(result);
}

/* Prints the best of PASSES passes, in operations a second. */
static void time_pass(const char *name, void (*pass)(const struct ts_emulate_program *),
		      const struct ts_emulate_program *program)
{
	double best_s = 0;

	for (int i = 0; i < PASSES; i++) {
		double start_s = ts_bench_cpu_s(), s;

		pass(program);
		s = ts_bench_cpu_s() - start_s;
		best_s = !i || s < best_s ? s : best_s;
	}
	printf(", \"%s_per_s\": %.0f", name, (double)program->n_ops / best_s);
}

int main(int argc, char **argv)
{
	uint64_t n_wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	struct ts_sbt_reader *reader = make(n_wanted);
	struct ts_emulate_result *result, *recorded;
	struct ts_emulate_program *program;
	double first_s, read_s = 0;

	ts_bench_one_thread();
	program = time_read(reader, &first_s, &read_s);
	ts_bench_check(ts_emulate_run(program, NULL, 0, NULL, N_STEPS, &result, NULL), "run");
	ts_bench_check(ts_emulate_recorded(program, &recorded), "recorded");
	printf("{\"n\": %zu, \"calls\": %" PRIu64 ", \"error\": %.6f, \"first_read_per_s\": %.0f, "
	       "\"read_per_s\": %.0f",
	       program->n_ops, result->n_calls,
	       (double)result->makespan_ns / (double)recorded->makespan_ns - 1,
	       (double)program->n_ops / first_s, (double)program->n_ops / read_s);
	time_pass("simulate", simulate, program);
	time_pass("run", run, program);
	time_pass("edited", run_edited, program);
	puts("}");
	ts_emulate_result_free(result);
	ts_emulate_result_free(recorded);
	ts_emulate_program_free(program);
	ts_sbt_reader_free(reader);
	return 0;
}
