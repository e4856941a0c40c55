/* sanitizer_stub.c - what LeakSanitizer's runtime shows of itself, and nothing else. */

__attribute__((visibility("default"))) void __lsan_init(void);
void __lsan_init(void)
{
}
