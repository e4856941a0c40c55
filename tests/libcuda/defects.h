/* defects.h - kernels that do one thing which hardware lets pass and nobody means, each beside one that looks alike and
 * is right.
 *
 * For 64 threads: early_look: warp 1 looks at an mbarrier that warp 0 initialises, without a barrier between the two;
 * ordered_look: with one.  overrun: three phases of an mbarrier complete, which nobody waits for; paced: each is waited
 * for.  For 128 threads: early_read: an accumulator is stored before its group is waited for; late_read: after.
 * handed_on: late_read, with two groups in flight that use the same accumulators.  Again for 64: last_word: both warps
 * store their numbers in the second word of the variable `words`; own_words: each in its own.  lost_word: warp 1 looks
 * at the first word, says in the second that it waits, and waits for the third, while warp 0 sets the first, and then
 * the third if somebody waits: nobody wakes warp 1 when warp 0 does all of it between the two.
 */
#ifndef TESTS_LIBCUDA_DEFECTS_H
#define TESTS_LIBCUDA_DEFECTS_H

extern const char defects[];

#endif
