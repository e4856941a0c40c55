/* fmt/format.h - stands for a copy of fmt: FlashInfer's package has one within spdlog. */
#include <spdlog/fmt/bundled/format.h>
