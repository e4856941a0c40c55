# The two commands a newcomer types.  Each prepares what it needs, builds and runs.
#   make demo    a hanging Hopper GEMM under wsdbg, on a GPU or the simulator; without nvcc a session recorded on an H200
#   make test    every test that needs no GPU, and most also under the address, undefined and thread sanitizers
.PHONY: demo test

demo:
	@sh cmake/prepare.sh demo
	@sh cmake/build_demo.sh
	@sh cmake/demo.sh build/bin/wsdbg

test:
	@sh cmake/prepare.sh test
	@sh cmake/test.sh
