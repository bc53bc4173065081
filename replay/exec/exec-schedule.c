/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and records the decisions of a schedule. exec-order.c calls this file for operations, the
 * virtual GPU for threads of kernels.
 */
#include "replay/exec/exec-schedule.h"

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/*
 * Returns the number of decisions, out of 65536, that the seed changes. Schedules with many and
 * with few changes find different dependences on the order.
 */
static uint64_t rate_of(uint64_t seed)
{
	static const uint16_t rates[] = {65535, 32768, 8192, 65535, 2048, 32768, 16384, 256};

	return rates[seed % (sizeof(rates) / sizeof(*rates))];
}

static bool is_kept(struct ts_exec_schedule *schedule, uint64_t number)
{
	while (schedule->next_kept < schedule->n_kept &&
	       schedule->kept[schedule->next_kept].last < number)
		schedule->next_kept++;
	return schedule->next_kept < schedule->n_kept &&
	       schedule->kept[schedule->next_kept].first <= number;
}

uint64_t ts_exec_schedule_choose(struct ts_exec_schedule *schedule)
{
	uint64_t number = schedule->n_decisions++, value;

	if (!is_kept(schedule, number))
		return 0;
	value = mix(mix(schedule->seed) ^ number);
	if ((value >> 48) > rate_of(schedule->seed))
		return 0;
	value = mix(value);
	if (schedule->n_taken < TS_EXEC_MAX_TAKEN)
		schedule->taken[schedule->n_taken] = number;
	schedule->n_taken++;
	schedule->last_taken = number;
	return value ? value : 1;
}

struct ts_exec_decision *ts_exec_schedule_describe(struct ts_exec_schedule *schedule)
{
	struct ts_exec_decision *decision;

	if (schedule->n_described == TS_EXEC_MAX_DECISIONS)
		return NULL;
	decision = &schedule->decisions[schedule->n_described++];
	*decision = (struct ts_exec_decision){.number = schedule->last_taken,
					      .sequence = schedule->sequence};
	return decision;
}

static uint64_t choose(void *userdata, enum ts_ptx_choice_kind kind)
{
	(void)kind;
	return ts_exec_schedule_choose(userdata);
}

static void chosen(void *userdata, const struct ts_ptx_choice *choice)
{
	struct ts_exec_decision *decision = ts_exec_schedule_describe(userdata);

	if (!decision)
		return;
	decision->choice = *choice;
	decision->choice.kernel = NULL;
}

void ts_exec_schedule_begin(struct ts_exec_schedule *schedule)
{
	schedule->n_decisions = schedule->n_taken = schedule->last_taken = 0;
	schedule->n_described = 0;
	schedule->sequence = 0;
	schedule->next_kept = 0;
	schedule->scheduler = (struct ts_ptx_scheduler){
		.userdata = schedule,
		.unordered_blocks = schedule->unordered_blocks,
		.choose = choose,
		.chosen = chosen,
	};
}
