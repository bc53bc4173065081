/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The porter: a child process of the daemon that receives strangers' descriptors, so the daemon's
 * table never has one.
 *
 * The sender decides how long close() of a descriptor takes. Every close() of a FUSE file waits for
 * its server and ignores SIGKILL; so do the closes at exit() and execve(). The last close() of a
 * socket likewise waits for descriptors in its queue that were never received. Therefore:
 * - The porter has a second descriptor of each socket that strangers connect to, so the daemon's
 *   close() is never the last one.
 * - The daemon itself receives messages without descriptors. The porter receives messages with
 *   descriptors. It passes a memory file and plain files (plain.h) on. It keeps files of a query
 *   until it sends them to a worker. It closes all others in threads, one per user.
 * - The daemon ends at once. The porter ends when the last of its closes returns.
 *
 * Bounds: if a user has TS_PORTER_MAX_USER descriptors waiting for close(), the porter receives no
 * more from that user (-EBUSY). If many connections of a user wait for close(), helper processes
 * close them (overflow.h). If the porter's descriptors come near RLIMIT_NOFILE, ts_porter_is_full()
 * returns true; accept no connections then.
 *
 * Not thread-safe. A call waits some microseconds for the porter's process, which itself never
 * waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ts_porter;

#define TS_PORTER_MAX_USER    256u	   /* descriptors of one user that wait for close() */
#define TS_PORTER_RECEIVE_MAX 4096u	   /* bytes of one receive */
#define TS_PORTER_SEND_MAX    (68u * 1024) /* bytes of one send: a complete request */
#define TS_PORTER_MAX_HELD    64u	   /* files held for one connection */
/* Maximum number of descriptors for a session: its memory, and its trace file twice. */
#define TS_PORTER_SESSION_FDS 3u

/* Forks the porter. Call it before the first thread starts. Returns 0 or a negative errno. */
int ts_porter_new(struct ts_porter **ret_porter);
/* Ends the porter without waiting for its closes. NULL is accepted. */
void ts_porter_free(struct ts_porter *porter);

/*
 * Returns a descriptor that becomes readable when the porter's process ends. Then the daemon can
 * serve no connection.
 */
int ts_porter_fd(const struct ts_porter *porter);
/* True if the porter has no room for another connection. */
bool ts_porter_is_full(const struct ts_porter *porter);

/*
 * Keeps a second descriptor of a listening socket, or of an accepted connection. `user`: the
 * account's uid. Returns an id for the other calls. ts_porter_close() ends the connection for both
 * ends and closes the caller's descriptor; -1 is accepted.
 */
uint64_t ts_porter_keep(struct ts_porter *porter, uid_t user, int fd);
void ts_porter_close(struct ts_porter *porter, uint64_t number, int fd);

/*
 * Receive from a non-blocking socket like recv(): up to n_bytes, at most TS_PORTER_RECEIVE_MAX.
 * Return the number of bytes; 0: the end; or a negative errno. -EBUSY: the next message has
 * descriptors, but too many descriptors of the same user already wait for close(). -EPIPE: the
 * porter is gone.
 *
 * receive_session: ret_fds[0] is the message's memory file; ret_fds[1] and [2] are its first two
 * plain files, in order; -1: none. *ret_n_fds counts all descriptors of the message.
 *
 * receive_files: the porter holds the message's descriptors, oldest first. *ret_n_fds counts them.
 * Descriptors beyond TS_PORTER_MAX_HELD are closed, but counted too.
 */
ssize_t ts_porter_receive_session(struct ts_porter *porter, uint64_t number, int fd, void *data,
				  size_t n_bytes, int ret_fds[TS_PORTER_SESSION_FDS],
				  unsigned *ret_n_fds);
ssize_t ts_porter_receive_files(struct ts_porter *porter, uint64_t number, int fd, void *data,
				size_t n_bytes, unsigned *ret_n_fds);

/*
 * Identity of a held file, from the kernel's cache without a call to the file's server. 0 and 0:
 * unknown.
 */
struct ts_porter_file {
	uint64_t device; /* dev_t */
	uint64_t inode;
};

/*
 * Sends bytes, with the first n_fds files that the porter holds for the connection. The porter
 * keeps holding them. Returns like send(). On success, ret_files has the identity of the files.
 */
ssize_t ts_porter_send_files(struct ts_porter *porter, uint64_t number, unsigned n_fds,
			     int socket_fd, const void *data, size_t n_bytes,
			     struct ts_porter_file ret_files[TS_PORTER_MAX_HELD]);
/* Closes the first n_fds files that the porter holds for the connection. */
void ts_porter_release_files(struct ts_porter *porter, uint64_t number, unsigned n_fds);
