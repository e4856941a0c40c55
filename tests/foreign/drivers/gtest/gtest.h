/* gtest/gtest.h - stands for GoogleTest's header, for kernels that are kept in one file with their tests.  A test is a
 * function that nothing calls. */
#ifndef WSDBG_TESTS_FOREIGN_GTEST_H
#define WSDBG_TESTS_FOREIGN_GTEST_H

#define TEST(group, name) static void group##_##name()
#define EXPECT_TRUE(condition) (void)(condition)

#endif
