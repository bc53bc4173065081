/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the sessions of this node. Asks the daemon, and prints pid, state, rows and program of each
 * session that the caller may see. `tsctl sessions` prints the same. TRACESMITH_CONTROL names
 * another socket than the service's.
 *
 *     cc node.c $(pkg-config --cflags --libs tracesmith) -o node && ./node
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tracesmith.h>

int main(void)
{
	Ts__Rpc__Answer *answer = NULL;
	struct ts_client *client = NULL;
	int r = ts_client_connect(NULL, &client);

	if (!r)
		r = ts_client_list_sessions(client, &answer);
	if (r) {
		fprintf(stderr, "%s: %s\n", ts_client_default_path(), strerror(-r));
		ts_client_free(client);
		return 2;
	}
	if (answer->body_case == TS__RPC__ANSWER__BODY_SESSION_LIST)
		for (size_t i = 0; i < answer->session_list->n_sessions; i++) {
			const Ts__Rpc__LiveSession *session = answer->session_list->sessions[i];

			printf("%" PRIu32 "\t%s\t%" PRIu64 "\t%s\n", session->pid, session->state,
			       session->rows, session->program);
		}
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	return 0;
}
