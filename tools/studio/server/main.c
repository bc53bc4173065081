/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracesmith-studio serves the page of `tsctl studio`, which starts it with its own words. It opens
 * the traces, listens on the loopback interface or at a Unix socket, opens the browser, and runs
 * until a signal ends it. Requests run in threads of http.c. It runs as the user, on the user's
 * files, as tsctl does.
 */
#include "proto/abi/base.h"
#include "tools/studio/server/browser.h"
#include "tools/studio/server/http.h"
#include "tools/studio/server/studio-listen.h"
#include "tools/tsctl/options/help.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/studio/studio-options.h"
#include "tools/tsctl/tsctl.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>

static int make_token(char token[TS_STUDIO_TOKEN_BYTES])
{
	unsigned char bytes[(TS_STUDIO_TOKEN_BYTES - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int listen_at(struct ts_studio *studio, const struct ts_studio_options *asked)
{
	int fd = asked->socket ? ts_listen_socket(asked->socket)
			       : ts_listen_port((unsigned)asked->port, &studio->port);

	if (fd < 0 && asked->socket)
		ts_complain("cannot listen at %s: %s", asked->socket, strerror(-fd));
	else if (fd < 0)
		ts_complain("cannot listen at port %u: %s", (unsigned)asked->port, strerror(-fd));
	return fd;
}

static void print_address(const char *address)
{
	puts(address);
	fflush(stdout);
}

/* Opens the browser, or prints the address if that is not possible or not asked for. */
static void show(const struct ts_studio *studio, const struct ts_studio_options *asked,
		 char page[PATH_MAX])
{
	char address[128];
	int r;

	if (asked->socket)
		snprintf(address, sizeof(address), "#token=%s", studio->token);
	else
		snprintf(address, sizeof(address), "http://127.0.0.1:%u/#token=%s", studio->port,
			 studio->token);
	if (asked->no_browser || asked->socket) {
		print_address(address);
		return;
	}
	if (!geteuid())
		fputs("Running as root: the browser, too, would run as root. --no-browser prints the "
		      "address for another user's browser.\n",
		      stderr);
	r = ts_browser_open(address, page);
	if (r) {
		fprintf(stderr, "No browser was opened (%s). The address is:\n", strerror(-r));
		print_address(address);
		return;
	}
	fputs("Studio is open in the browser. Ctrl-C ends it.\n", stderr);
}

/* Waits for a signal that ends the program. All threads block these signals. */
static void wait_for_end(const sigset_t *ends)
{
	int number;

	while (sigwait(ends, &number))
		;
}

static int serve(struct ts_studio *studio, const struct ts_studio_options *asked)
{
	struct ts_studio_http *http;
	char page[PATH_MAX] = "";
	sigset_t ends;
	int fd, r;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = listen_at(studio, asked);
	if (fd < 0)
		return TS_EXIT_BAD;
	ts_studio_pace_start(&studio->pace);
	r = ts_studio_http_new(studio, fd, &http);
	for (unsigned i = 0; !r && i < studio->n_traces; i++)
		ts_studio_trace_build(&studio->traces[i], &studio->pace);
	if (r) {
		ts_complain("cannot start the server: %s", strerror(-r));
		return TS_EXIT_BAD;
	}
	show(studio, asked, page);
	wait_for_end(&ends);
	atomic_store(&studio->is_ending, 1);
	ts_studio_http_free(http);
	ts_browser_forget(page);
	if (asked->socket)
		unlink(asked->socket);
	return TS_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct ts_studio_options asked = {0};
	static struct ts_studio studio;
	struct ts_operands operands;
	int r = TS_EXIT_OK;

	/*
	 * Decoding a block needs arrays of some hundred KiB. By default the system would map and
	 * clear each of them anew, which takes as long as the decoding. The large arrays of an
	 * emulation have mappings of their own: in the heap they would leave holes of twice their
	 * size.
	 */
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	mallopt(M_ARENA_MAX, 2);
	ts_complain_as("studio");
	if (ts_options_parse(&ts_command_studio, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (asked.session ? operands.n != 0 : operands.n < 1 || operands.n > TS_STUDIO_MAX_TRACES) {
		ts_complain("takes one trace file, two traces, or --session N");
		return TS_EXIT_BAD;
	}
	ts_studio_layers_init(&studio.layers);
	ts_studio_slacks_init(&studio.slacks);
	if (make_token(studio.token)) {
		ts_complain("the system gives no random numbers");
		return TS_EXIT_BAD;
	}
	for (size_t i = 0; !r && i < (asked.session ? 1 : operands.n); i++) {
		r = ts_studio_trace_open(&studio.traces[studio.n_traces],
					 asked.session ? NULL : operands.words[i], asked.session);
		studio.n_traces++;
	}
	r = r ? r : serve(&studio, &asked);
	ts_studio_layers_deinit(&studio.layers);
	ts_studio_slacks_deinit(&studio.slacks);
	for (unsigned i = 0; i < studio.n_traces; i++)
		ts_studio_trace_close(&studio.traces[i]);
	return r;
}
