/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index protocol of one shard (proto/abi/ring.h, proto/abi/session.h), for spin: threads that own it one after
 * the other, daemons that drain it one after the other, and the death of the application or of a daemon between any two
 * accesses of memory. What must hold:
 *
 *	- what a daemon reads is a whole record, as it was written, and its owner's
 *	- a daemon reads records in order, without a gap and without one twice
 *	- no file lacks what an earlier one does not have: all files together hold every committed record
 *	- when the last daemon has drained a shard that nobody writes to any more, all that was committed is written
 *	- the indices never look impossible to a daemon: no honest producer is dropped
 *
 * Spin interleaves accesses and does not reorder them. What a missing barrier would allow is said by the
 * order of accesses itself: see the mutations, each of which must make the model fail (test-ring.py).
 *
 *	PUBLISH_FIRST	 (A) without release: the position is visible before the bytes
 *	COPY_FIRST	 (A) without acquire: bytes are read before the position that says they are there
 *	IGNORE_RELEASED	 (B) without acquire: the producer writes without having asked what was released
 *	RELEASE_EARLY	 released before it is written: the next daemon does not find it
 *	RESUME_AT_HEAD	 a new daemon begins where the producer is, not where the last one was
 *	TAKE_UNRELEASED	 a shard changes hands while records of its last owner lie in it
 */

#ifndef N
#define N 3 /* words of the ring; a record has one or two */
#endif
#ifndef RECORDS
#define RECORDS 2 /* that each owner tries to make */
#endif
#ifndef DEATHS
#define DEATHS 1 /* of daemons */
#endif
#define OWNERS 2

#define FREE	  0
#define OWNED	  1
#define ABANDONED 2

/* struct ts_shard, and the memory behind it. */
byte state = FREE;
byte thread;
byte head;
byte released;
byte words[N];	   /* of the record that begins here */
byte number[N];	   /* in every word of a record: which it is */
byte owner[N];
bool padding[N];

/* What nobody reads but the assertions. */
byte committed;	   /* records */
byte next_number;  /* of a record */
byte written;	   /* of those, in files */
byte n_ended;	   /* owners */
bool killed;	   /* the application */
byte daemon_now;   /* the process that is alive: every other daemon is dead */
byte n_deaths;	   /* of daemons */
bool finished;

/*
 * Each atomic block makes one access of shared memory that another process may come between; what else is in it
 * is the process's own, or the assertions'. Own variables are cleared when they are done with: fewer states are one.
 */

/* A thread of the application: take_shard(), then ts_ring_reserve() and ts_ring_commit(), then thread_ended(). */
proctype producer(byte me) provided (!killed)
{
	byte my_head, my_released, n, pad, made, seen;

	/* take_shard(): the state is loaded with acquire, then the indices, then exchanged. */
	do
	:: atomic { state != OWNED -> seen = state };
	   if
#ifndef TAKE_UNRELEASED
	   :: atomic { seen == ABANDONED && released != head -> seen = OWNED }
	   :: atomic { seen == FREE || released == head -> skip }
#else
	   :: true -> skip
#endif
	   fi;
	   if
	   :: atomic { seen != OWNED && state == seen -> state = OWNED; seen = 0; break }
	   :: atomic { seen == OWNED || state != seen -> seen = 0 }
	   fi
	od;
	/* ts_ring_producer_init() */
	my_head = head;
	my_released = released;
	/* Before the first commit. */
	thread = me;
	do
	:: atomic { made == RECORDS -> break }
	:: atomic {
		made < RECORDS -> made++;
		if
		:: n = 1
		:: n = 2
		fi;
		/* ts_ring_reserve() */
		pad = (my_head % N + n > N -> N - my_head % N : 0)
	   };
#ifndef IGNORE_RELEASED
	   if
	   :: atomic { my_head + pad + n - my_released > N -> my_released = released } /* (B) */
	   :: else -> skip
	   fi;
	   if
	   :: atomic { my_head + pad + n - my_released > N -> n = 0; pad = 0 } /* counted by the caller */
	   :: else -> skip
	   fi;
#endif
	   if
	   :: atomic { n > 0 && pad > 0 ->
		words[my_head % N] = pad; padding[my_head % N] = true; my_head = my_head + pad; pad = 0 }
	   :: else -> skip
	   fi;
	   if
	   :: n > 0 ->
#ifdef PUBLISH_FIRST
		atomic { head = my_head + n; committed++ };
#endif
		/* The caller fills it, a word at a time. */
		atomic { words[my_head % N] = n; padding[my_head % N] = false; owner[my_head % N] = me;
			 number[my_head % N] = next_number };
		if
		:: atomic { n == 2 -> number[(my_head + 1) % N] = next_number }
		:: else -> skip
		fi;
#ifdef PUBLISH_FIRST
		atomic { my_head = my_head + n; next_number++; n = 0 }
#else
		/* ts_ring_commit(), (A): one store. */
		atomic { my_head = my_head + n; head = my_head; committed++; next_number++; n = 0 }
#endif
	   :: else -> skip
	   fi
	od;
	/* thread_ended(): release. */
	atomic { state = ABANDONED; n_ended++; my_head = 0; my_released = 0; made = 0 }
}

/* A daemon's session: session_init_shards(), then rounds of session_drain_shard() and ts_session_write(). */
proctype consumer() provided (daemon_now == _pid)
{
	byte position, seen, n, what, whose, expected, first_pending;
	bool any, pending, pad;

	/* A daemon that comes after another goes on from what that one released. */
#ifdef RESUME_AT_HEAD
	position = head;
#else
	position = released;
#endif
	do
#ifdef COPY_FIRST
	:: atomic { n = words[position % N]; pad = padding[position % N]; whose = owner[position % N];
		    what = number[position % N] };
	   atomic { seen = head };
#else
	:: atomic { head != position -> seen = head }; /* (A) */
#endif
	   if
	   :: atomic { seen == position -> n = 0; what = 0; whose = 0; seen = 0; pad = false }
	   :: else ->
		/* ts_ring_consumer_check(): `released` is what this daemon itself released, or found. */
		assert(seen - released <= N && seen > position);
		/* session_drain_shard(): the owner is looked at, then the words are copied. */
#ifndef COPY_FIRST
		atomic { n = words[position % N]; pad = padding[position % N];
			 whose = owner[position % N]; what = number[position % N] };
#endif
		assert(n > 0 && position + n <= seen);
		if
		:: pad -> skip
		:: else ->
			assert(thread == whose);
			if
			:: n == 2 -> assert(number[(position + 1) % N] == what)
			:: else -> skip
			fi;
			atomic {
				assert(!any || what == expected);
				first_pending = (pending -> first_pending : what);
				pending = true;
				any = true;
				expected = what + 1
			}
		fi;
		atomic { position = position + n; n = 0; what = 0; whose = 0; seen = 0; pad = false };
#ifdef RELEASE_EARLY
		released = position
#endif
	   fi
	:: position != released || pending ->
		/* ts_session_write(): the rows are in the file, and only then is their space given back, (B). */
		if
		:: atomic { pending ->
			assert(first_pending <= written);
			written = (expected > written -> expected : written);
			pending = false;
			first_pending = 0 }
		:: else -> skip
		fi;
		released = position
	:: atomic { (killed || n_ended == OWNERS) && position == head && !pending && position == released ->
		/* Nobody writes any more, and this daemon has been through: as at the end of a session. */
		assert(written == committed);
		finished = true;
		break }
	od
}

/* Kills the application, once or never, and daemons, between any two steps of theirs. */
proctype death()
{
	do
	:: !killed && !finished -> killed = true
	:: n_deaths < DEATHS && !finished ->
		atomic { n_deaths++; daemon_now = run consumer() }
	:: finished -> break
	od
}

init
{
	atomic {
		run producer(1);
		run producer(2);
		daemon_now = run consumer();
		run death()
	}
}
