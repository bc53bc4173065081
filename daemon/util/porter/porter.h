/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The porter: a process of the daemon's that receives strangers' descriptors, so that none of them is ever in the daemon's table.
 *
 * A stranger decides how long close() of his descriptor lasts. Every close() of a FUSE file waits for its server, the closes at
 * exit() and execve() too, and ignores SIGKILL meanwhile. A socket's last close() waits likewise for descriptors that nobody received
 * from it. Therefore:
 * - The porter has a second descriptor of each socket that strangers connect to, so the daemon's close() is never the last one.
 * - The daemon receives messages without descriptors itself. The porter receives a message with descriptors: it hands a memory file
 *   and plain files (plain.h) on, keeps files for a query until it sends them to a worker, and closes all others in threads, one
 *   for each user.
 * - The daemon ends at once. The porter ends when the last of its closes returns.
 *
 * Bounds: the porter receives no more descriptors of a user who has TS_PORTER_MAX_USER waiting to be closed (-EBUSY). Connections that
 * wait to be closed go to helper processes if a user has many of them (overflow.h). When the porter has
 * almost as many descriptors as RLIMIT_NOFILE allows, ts_porter_is_full() holds, and nothing may be accepted for a while.
 *
 * Belongs to one thread. Calls wait for the porter, which itself waits for nothing: microseconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ts_porter;

#define TS_PORTER_MAX_USER    256u	   /* descriptors of one user that wait to be closed */
#define TS_PORTER_RECEIVE_MAX 4096u	   /* bytes of one receive */
#define TS_PORTER_SEND_MAX    (68u * 1024) /* bytes of one send: a whole request */
#define TS_PORTER_MAX_HELD    64u	   /* files held for one connection */
#define TS_PORTER_SESSION_FDS 3u /* a session's memory, and the file for its trace twice */

/* Forks: to be called before the first thread begins. 0 or a negative errno. */
int ts_porter_new(struct ts_porter **ret_porter);
/* NULL is fine. The porter's process ends without the caller waiting for its closes. */
void ts_porter_free(struct ts_porter *porter);

/* Readable when the porter's process is gone: then no connection can be served any more. */
int ts_porter_fd(const struct ts_porter *porter);
/* Whether the porter has room for no further connection. */
bool ts_porter_is_full(const struct ts_porter *porter);

/*
 * Keeps a second descriptor of a socket that strangers connect to, or have connected to. `user` is the account's uid. Returns the
 * number by which the other calls name it. ts_porter_close() ends the connection for both ends and closes the caller's descriptor, -1
 * included.
 */
uint64_t ts_porter_keep(struct ts_porter *porter, uid_t user, int fd);
void ts_porter_close(struct ts_porter *porter, uint64_t number, int fd);

/*
 * Receive from a socket that does not block, like recv(): up to n_bytes, at most TS_PORTER_RECEIVE_MAX. Return the number of
 * bytes; 0: the end; -EBUSY: a message with descriptors lies there, and its user has too many to be closed already; -EPIPE: the
 * porter is gone; or another -errno.
 * receive_session: ret_fds[0] is the message's memory file, ret_fds[1] and [2] its first two plain files, in their order; -1: none
 * came. *ret_n_fds counts all descriptors of the message.
 * receive_files: the porter holds the message's descriptors, the oldest first; *ret_n_fds counts them. Those beyond
 * TS_PORTER_MAX_HELD are closed and counted all the same.
 */
ssize_t ts_porter_receive_session(struct ts_porter *porter, uint64_t number, int fd, void *data,
				  size_t n_bytes, int ret_fds[TS_PORTER_SESSION_FDS],
				  unsigned *ret_n_fds);
ssize_t ts_porter_receive_files(struct ts_porter *porter, uint64_t number, int fd, void *data,
				size_t n_bytes, unsigned *ret_n_fds);

/* A file that the porter holds, as the kernel knows it without asking the file's server; 0 and 0: not known. */
struct ts_porter_file {
	uint64_t device; /* dev_t */
	uint64_t inode;
};

/*
 * Sends bytes with the first n_fds files that the porter holds for the connection, which it goes on holding. Like send(). If it
 * succeeds, ret_files are these.
 */
ssize_t ts_porter_send_files(struct ts_porter *porter, uint64_t number, unsigned n_fds,
			     int socket_fd, const void *data, size_t n_bytes,
			     struct ts_porter_file ret_files[TS_PORTER_MAX_HELD]);
/* Closes the first n_fds files that the porter holds for the connection. */
void ts_porter_release_files(struct ts_porter *porter, uint64_t number, unsigned n_fds);
