/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the job and the rank of the process: see job.h. config.c calls this file, when the session
 * begins.
 */
#include "inject/job.h"

#include <stdio.h>
#include <stdlib.h>

/* The variables of each launcher, in the order of precedence. */
static const struct launcher {
	const char *rank, *n_ranks, *local_rank;
} launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

/* Reads a decimal number. Returns false if the variable is not one; *ret_number is then 0. */
static bool read_number(const char *variable, uint32_t *ret_number)
{
	const char *text = secure_getenv(variable);
	unsigned long number;
	char *end;

	*ret_number = 0;
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || number >= UINT32_MAX)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

void ts_job_read(struct ts_job *ret_job)
{
	const char *id = secure_getenv("SLURM_JOB_ID");

	memset(ret_job, 0, sizeof(*ret_job));
	/* A longer id is no id of Slurm's; a part of it would name another job. */
	if (id && strlen(id) < sizeof(ret_job->id))
		snprintf(ret_job->id, sizeof(ret_job->id), "%s", id);
	for (size_t i = 0; i < TS_ARRAY_LEN(launchers); i++) {
		if (!read_number(launchers[i].rank, &ret_job->rank))
			continue;
		ret_job->flags |= TS_JOB_RANK;
		(void)read_number(launchers[i].n_ranks, &ret_job->n_ranks);
		if (read_number(launchers[i].local_rank, &ret_job->local_rank))
			ret_job->flags |= TS_JOB_LOCAL_RANK;
		return;
	}
}
