/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the process's place in a job of many processes from the environment.
 *
 *	id          SLURM_JOB_ID
 *	rank        RANK (torchrun), OMPI_COMM_WORLD_RANK (Open MPI), PMI_RANK (MPICH, Intel MPI),
 *	            SLURM_PROCID (srun): the first one that is a number
 *	n_ranks, local_rank
 *	            WORLD_SIZE, LOCAL_RANK; OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK;
 *	            PMI_SIZE, MPI_LOCALRANKID; SLURM_NTASKS, SLURM_LOCALID: those that belong to
 *	            the variable of the rank
 *
 * A launcher inside a Slurm job comes first: there, Slurm counts the launcher, not its workers.
 */
#pragma once

#include "proto/abi/session.h"

/*
 * Fills *ret_job. Variables that are missing or malformed leave their fields 0. The caller runs
 * where the environment may be read (config.c).
 */
void ts_job_read(struct ts_job *ret_job);
