#!/usr/bin/env python3
"""run.py - runs programs of others on the simulator, searches them for races and explores them; writes a section of docs/results/sim.md.

    tests/foreign/run.py --scratch FOLDER [--PROJECT CHECKOUT]... [--packages FOLDER] [--build build] [--only NAME...] [--limit 300] [--schedules 50]
                         [--triton PYTHON] [--tilelang PYTHON] [--multiprocessors 8] [--no-page] [--before BUILD [--runs 3]]

The user brings the checkouts, with their submodules. PINNED names the projects and the commits that the page rests on; --flash-attention is the option for
flash_attention. A program whose checkout is not given is left out. cub_transform needs none: CUB comes with the CUDA toolkit. --packages: a folder that has Python
packages with the text of kernels (PACKAGES names the versions), by pip install --no-deps --target FOLDER; a source package is unpacked there. Programs are compiled with
nvcc into --scratch, once, with no file changed, and run there; nothing of them is kept in this repository. Some projects launch their kernels from Python, or have no
program with a check: for these drivers/ has small host programs of our own, which include the files of the kernels. Of the files of PARTS they include some lines only,
because the others need PyTorch or several processes, do not compile, or have variants by the hundred; or all lines, but with a header of ours beside them.
--triton: a Python that has Triton 3.9.0 and NumPy; it runs python/triton_matmul.py. --tilelang: a Python that has TileLang 0.1.15; it writes a kernel's text for nvcc,
by python/tilelang_attention.py.
Each program runs under `wsdbg run --device sim`, again with --races, and under `wsdbg explore`. It passes when its own check does.
--multiprocessors: the size of the simulated chip. Helper kernels of CUTLASS fill the whole chip, whatever the problem's size, so a small chip saves most of the time.
--before: a build of an earlier commit; the first program of --only runs under the two in turns, and nothing else is measured. A development script: wsdbg itself needs no Python.
"""
import argparse, json, os, re, signal, subprocess, sys, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results

PINNED = {'cutlass': ('https://github.com/NVIDIA/cutlass', '7107b05535f8977f5ecb9d01ee203205b1fd9bc4'),
          'flash_attention': ('https://github.com/Dao-AILab/flash-attention', '0251105a2fb19d2957484b7f023cd8c115286ced'),
          'deepgemm': ('https://github.com/deepseek-ai/DeepGEMM', '54e22612409371d6364144b69086735beb54e98b'),
          'thunderkittens': ('https://github.com/HazyResearch/ThunderKittens', '0b55588d2769dde0c7a9a606ffc015b0ca7a9551'),
          'fast_cu': ('https://github.com/pranjalssh/fast.cu', '38eb642e0c081231d6f695978be63604bd7c689b'),
          'flashmla': ('https://github.com/deepseek-ai/FlashMLA', '9241ae3ef9bac614dd25e45e507e089f888280e0'),
          'sageattention': ('https://github.com/thu-ml/SageAttention', 'd1a57a546c3d395b1ffcbeecc66d81db76f3b4b5'),
          'simplegemm': ('https://github.com/bertmaher/simplegemm', '068b32fa8381a6e4a559275ecd87ed670ead4c65'),
          'matmultutorial': ('https://github.com/KnowingNothing/MatmulTutorial', 'e0a721c2d6bee4d8911dad479d05f7c0665b50fa'),
          'effective_transpose': ('https://github.com/simveit/effective_transpose', '994b2b5acaa67f80e411df3e8274b6ae13fd1949'),
          'flashinfer': ('https://github.com/flashinfer-ai/flashinfer', 'fb28d7242b3506a2348265962041acc1fb56cca4'),
          'torchao': ('https://github.com/pytorch/ao', '36027d82d1ad9949597ea16002ff4940374b1b94'),
          'flashkda': ('https://github.com/MoonshotAI/FlashKDA', '1ce47ea3bb22c84eb9cc665028399cf35e8ffb0b'),
          'hpc_ops': ('https://github.com/Tencent/hpc-ops', '6e2ecede9d6d47b2e680e839cc7ad7422bc8d88b'),
          'spargeattn': ('https://github.com/thu-ml/SpargeAttn', 'bfd980b781784c04ad6a53e7ee657c0645d99171'),
          'nvfuser': ('https://github.com/NVIDIA/Fuser', '81c4b22fd750d377d69e24928c32233162f6b2bd'),
          'deepep': ('https://github.com/deepseek-ai/DeepEP', 'dd758caf451848bd150e1046af3d0a73e5fff38d'),
          'lmdeploy': ('https://github.com/InternLM/lmdeploy', '1263d5cd889b7ad500e85b8eb20401327a4516ab'),
          'colfax_kernels': ('https://github.com/ColfaxResearch/cutlass-kernels', '84f0802e2b4a1bf068ac70359f20ffdb368c8f6a'),
          'alpha_moe': ('https://github.com/Aleph-Alpha/Alpha-MoE', '0fbed62bdda3702fd5d4b8c497e68746f0304c3a'),
          'fastvideo': ('https://github.com/hao-ai-lab/FastVideo', '2f3d4074064e4d86f99dc784ebbaa296e6f5925f'),
          'megakernels': ('https://github.com/HazyResearch/Megakernels', '7309cec801537b61fea3b50d7dfe454a6cde578e'),
          'cula': ('https://github.com/inclusionAI/cuLA', 'fa742a23fcc6d818b0f591532ecad7985e3f64e5'),
          'deepergemm': ('https://github.com/ademeure/DeeperGEMM', '4b05985655deee6112cf4c87fa51709ef699b012'),
          'mirage': ('https://github.com/mirage-project/mirage', 'b0e098d23de62434a03435940397f85da0051e26'),
          'mscclpp': ('https://github.com/microsoft/mscclpp', '1f5f065d7b13ab02df32c22568f38785d1eeec01'),
          'magiattention': ('https://github.com/SandAI-org/MagiAttention', 'ec8ddb19d136a3a81cb095e0175bccbfa5745a2c'),
          'fbgemm': ('https://github.com/pytorch/FBGEMM', '55470d16a975de04646ea282fbe22f628ba7152c'),
          'cutlass_3_6': ('https://github.com/NVIDIA/cutlass', 'bf9da7b76c766d7ee7d536afc77880a4ef1f1156'),
          'flux': ('https://github.com/bytedance/flux', '19831ca2d820e3e782ed1d15d8b52d0898b78b26'),
          'samples': ('https://github.com/NVIDIA/cuda-samples', 'c94ff366aed18c797b8a85dfaac7817b0228b420')}
PACKAGES = ('apache-tvm-ffi==0.1.15.post2', 'flashinfer-python==0.7.4', 'humming-kernels==0.1.20', 'nvidia-cuda-cccl==13.3.5.0.6', 'sgl-deep-gemm==0.2.5',
            'sglang==0.5.23', 'nvidia-cutlass==3.4.1.0', 'deepinfer-ep==2.5.0', 'natten==0.21.7', 'transformer-engine-torch==2.20.2', 'vllm==0.33.0')  # the last four: source packages
SIZE = ['--m=256', '--n=256', '--k=256', '--iterations=0']
# name: checkout (None = needs none), folder, sources (None = all of the folder), arguments, what its own check prints, launch to explore
PROGRAMS = {
    '48_hopper_warp_specialized_gemm': ('cutlass', 'examples', None, SIZE, 'Disposition: Passed', 3),
    '49_hopper_gemm_with_collective_builder': ('cutlass', 'examples', None, ['--m=128', '--n=128', '--k=64'], ': Passed', 3),
    '50_hopper_gemm_with_epilogue_swizzle': ('cutlass', 'examples', None, SIZE, ': Passed', 3),
    '54_hopper_fp8_warp_specialized_gemm': ('cutlass', 'examples', None, SIZE, 'Disposition: Passed', 0),
    '55_hopper_mixed_dtype_gemm': ('cutlass', 'examples', '55_hopper_mixed_dtype_gemm.cu', SIZE, 'Disposition: Passed', 7),
    '57_hopper_grouped_gemm': ('cutlass', 'examples', None, ['--m=128', '--n=128', '--k=128', '--groups=2', '--iterations=0'],
                               'Disposition: Passed', 4),
    '61_hopper_gemm_with_topk_and_softmax': ('cutlass', 'examples', None, ['--iterations=0'], 'Disposition: Passed', 0),
    'flash_attention': ('flash_attention', None, None, ['512'], ': Passed', 0),
    'flash_attention_causal': ('flash_attention', None, None, ['512'], ': Passed', 0),
    'deepgemm_bf16': ('deepgemm', None, None, [], ': Passed', 0),
    'deepgemm_fp8': ('deepgemm', None, None, [], ': Passed', 0),
    'thunderkittens': ('thunderkittens', None, None, [], ': Passed', 0),
    'thunderkittens_mha': ('thunderkittens', None, None, [], ': Passed', 0),
    'thunderkittens_backward': ('thunderkittens', None, None, [], ': Passed', 0),
    'thunderkittens_lcf': ('thunderkittens', None, None, [], ': Passed', 0),
    'thunderkittens_rotary': ('thunderkittens', None, None, [], ': Passed', 0),
    'fast_cu': ('fast_cu', None, None, ['2048', '64'], ': Passed', 0),
    **{f'fast_cu_{number}': ('fast_cu', None, None, ['2048', '320'], ': Passed', 0) for number in range(7, 12)},
    'fast_cu_pingpong': ('fast_cu', None, None, ['768', '640'], ': Passed', 0),
    'flashmla': ('flashmla', None, None, [], ': Passed', 0),
    'flashmla_sparse': ('flashmla', None, None, [], ': Passed', 0),
    'flashmla_fp8': ('flashmla', None, None, [], ': Passed', 0),
    'sageattention': ('sageattention', None, None, [], ': Passed', 0),
    'cub_transform': (None, None, None, ['100000'], ': Passed', 0),
    'cute_wgmma_tma': ('cutlass', None, None, ['512', '256', '512'], ': Passed', 0),
    'simplegemm_pingpong': ('simplegemm', None, None, ['1024', '2304', '256'], ': Passed', 0),
    'matmultut_v10': ('matmultutorial', None, None, ['512', '512', '512'], ': Passed', 0),
    'matmultut_attention': ('matmultutorial', None, None, ['64', '128', '256'], ': Passed', 0),
    'tma_transpose': ('effective_transpose', None, None, ['512'], ': Passed', 0),
    'flashinfer_xqa': ('flashinfer', None, None, ['500'], ': Passed', 0),
    'sglang_norm_residual': ('packages', None, None, ['6'], ': Passed', 0),
    'sglang_fused_a_gemm': ('packages', None, None, ['7'], ': Passed', 0),
    'sglang_hicache': ('packages', None, None, ['200', '3'], ': Passed', 0),
    'sglang_sparse_mla': ('packages', None, None, ['512', '1'], ': Passed', 0),
    'deepselect_cluster': ('packages', None, None, ['2', '20000', '512'], ': Passed', 0),
    'tensorrt_llm_tinygemm': ('packages', None, None, ['128', '16', '8192'], ': Passed', 0),
    'humming_gemm': ('packages', None, None, ['96', '10'], ': Passed', 0),
    'transformer_engine_quantize': ('packages', None, None, ['256', '512'], ': Passed', 0),
    'flashinfer_mamba': ('packages', None, None, ['3', '0'], ': Passed', 0),
    'flashinfer_mla_swa': ('packages', None, None, ['300'], ': Passed', 0),
    'flashinfer_mla_swa_ahead': ('packages', None, None, ['300'], ': Passed', 0),
    'flashinfer_paged_prefill': ('packages', None, None, ['300'], ': Passed', 0),
    'tensorrt_llm_fmha': ('packages', None, None, ['300', '3'], ': Passed', 0),
    'cake_sparse_attention': ('packages', None, None, ['8'], ': Passed', 0),
    'cake_delta_product': ('packages', None, None, ['150', '2', '3'], ': Passed', 0),
    'natten_neighborhood': ('packages', None, None, ['500', '101'], ': Passed', 0),
    'vllm_cooperative_topk': ('packages', None, None, ['40000', '100000'], ': Passed', 0),
    'deepgemm_mqa_logits': ('packages', None, None, ['21', '1400'], ': Passed', 0),
    'cub_merge': ('packages', None, None, ['9000', '5000'], ': Passed', 1),
    'tilelang_attention': ('tilelang', None, None, [], ': Passed', 0),
    'deepep_expand': ('packages', None, None, ['50'], ': Passed', 0),
    'torchao_mx_rearrange': ('torchao', None, None, ['96', '64', '4'], ': Passed', 0),
    'flashkda': ('flashkda', None, None, ['70', '2'], ': Passed', 2),
    'hpc_prefill': ('hpc_ops', None, None, ['150', '70'], ': Passed', 1),
    'hpc_decode': ('hpc_ops', None, None, ['700', '90', '333'], ': Passed', 1),
    'hpc_group_gemm': ('hpc_ops', None, None, ['256', '640'], ': Passed', 1),
    'hpc_gemm_splitk': ('hpc_ops', None, None, ['50', '256', '2048', '1', '16', '2'], ': Passed', 0),
    'spargeattn': ('spargeattn', None, None, ['600', '200'], ': Passed', 0),
    'cub_scan_lookahead': ('packages', None, None, ['20001'], ': Passed', 1),
    'nvfuser_cluster_reduce': ('nvfuser', None, None, ['3'], ': Passed', 1),
    'deepep_intranode': ('deepep', None, None, ['60'], ': Passed', 0),
    'deepep_intranode_2': ('deepep', None, None, ['60'], ': Passed', None),
    'trtllm_helix': ('packages', None, None, ['2', '20', '512', '2'], ': Passed', None),
    'lmdeploy_recurrent': ('lmdeploy', None, None, ['5', '4', '6'], ': Passed', 0),
    'lmdeploy_recurrent_32': ('lmdeploy', None, None, ['3', '4', '6'], ': Passed', 0),
    'colfax_fmha_ws': ('colfax_kernels', None, None, ['256', '384', '2'], ': Passed', 0),
    'flash_attention_3_backward': ('flash_attention', None, None, ['320'], ': Passed', 1),
    'deepgemm_k_grouped': ('packages', None, None, ['384', '256'], ': Passed', 0),
    'deepgemm_paged_mqa': ('packages', None, None, [], ': Passed', 1),
    'alpha_moe': ('alpha_moe', None, None, ['20', '512', '512'], ': Passed', 0),
    'fastvideo_block_sparse': ('fastvideo', None, None, ['2', '1', '5'], ': Passed', 2),
    'megakernel_llama': ('megakernels', None, None, ['128', '4'], ': Passed', 0),
    'cula_kda': ('cula', None, None, ['200', '2'], ': Passed', 0),
    'cutlass_conv_fprop': ('cutlass', None, None, ['2', '9', '128', '128'], ': Passed', 0),
    'deepgemm_bmn_bnk': ('packages', None, None, ['9'], ': Passed', 0),
    'deepgemm_mega_moe': ('packages', None, None, ['40'], ': Passed', None),
    'deepgemm_mega_moe_2': ('packages', None, None, ['40'], ': Passed', None),
    'deepergemm_both': ('deepergemm', None, None, ['256', '8'], ': Passed', 0),
    'deepergemm_sides': ('deepergemm', None, None, ['256', '8'], ': Passed', 0),
    'flashinfer_topk_clusters': ('packages', None, None, ['3', '9000', '200', '4'], ': Passed', 0),
    'flashinfer_allreduce_fusion': ('packages', None, None, ['7'], ': Passed', None),
    'flashinfer_fp8_prefill': ('packages', None, None, ['300', '900'], ': Passed', 0),
    'cutlass_pipeline_persistent': ('cutlass', None, None, ['23'], 'Passed', 0),
    'cutlass_stream_k': ('cutlass', None, None, ['384', '320', '896', '1', '1'], ': Passed', 0),
    'cutlass_gather': ('cutlass', None, None, ['--m=256', '--n=512', '--k=512', '--index_size=256', '--mode=n', '--iterations=1'], 'Passed', 4),
    'cutlass_fmha_backward': ('cutlass', None, None, ['2', '384'], ': Passed', 1),
    'mscclpp_bulk': ('mscclpp', None, None, ['5'], ': Passed', None),
    'mscclpp_rsag_pipeline': ('mscclpp', None, None, ['22003'], ': Passed', None),
    'deepep_low_latency': ('deepep', None, None, ['8'], ': Passed', None),
    'mirage_megakernel': ('mirage', None, None, ['4', '4'], ': Passed', 2),
    'mirage_megakernel_split': ('mirage', None, None, ['4', '2', '1'], ': Passed', None),
    'mirage_moe': ('mirage', None, None, [], ': Passed', 0),
    'magi_ffa': ('magiattention', None, None, ['4'], ': Passed', 0),
    'magi_ffa_sparse': ('magiattention', None, None, ['4'], ': Passed', 0),
    'magi_ffa_bwd': ('magiattention', None, None, ['4'], ': Passed', 1),
    'magi_ffa_bwd_swap': ('magiattention', None, None, ['4'], ': Passed', 1),
    'fbgemm_hstu': ('fbgemm', None, None, ['4'], ': Passed', 0),
    'flux_ag_gemm': ('flux', None, None, ['512', '384', '6'], ': Passed', None),
    'flux_ag_gemm_pingpong': ('flux', None, None, ['512', '384', '6'], ': Passed', None),
    'triton_matmul': ('triton', None, None, ['256', '256', '512'], 'ok', 0),
    'vectorAdd': ('samples', 'Samples/0_Introduction', None, [], 'Test PASSED', 0),
    'matrixMul': ('samples', 'Samples/0_Introduction', None, ['-wA=64', '-hA=64', '-wB=64', '-hB=64'], 'Result = PASS', 0),
    'simpleStreams': ('samples', 'Samples/0_Introduction', None, [], '', None),
    'asyncAPI': ('samples', 'Samples/0_Introduction', None, [], '', None),
    'simpleCooperativeGroups': ('samples', 'Samples/0_Introduction', None, [], '', 0),
    'simpleAtomicIntrinsics': ('samples', 'Samples/0_Introduction', None, [], 'returned OK', 0),
    'simpleVoteIntrinsics': ('samples', 'Samples/0_Introduction', None, [], 'OK', 0),
    'simpleTemplates': ('samples', 'Samples/0_Introduction', None, [], 'OK', 0),
    'simpleCallback': ('samples', 'Samples/0_Introduction', None, [], 'Success', 0),
    'simpleZeroCopy': ('samples', 'Samples/0_Introduction', None, [], '', None),
    'clock': ('samples', 'Samples/0_Introduction', None, [], '', 0),
    'binaryPartitionCG': ('samples', 'Samples/3_CUDA_Features', None, [], '', 0),
    'globalToShmemAsyncCopy': ('samples', 'Samples/3_CUDA_Features', None, ['-wA=64', '-hA=64', '-wB=64', '-hB=64'], 'Result = PASS', 0),
    'warpAggregatedAtomicsCG': ('samples', 'Samples/3_CUDA_Features', None, [], 'PASSED', None),
    'streamOrderedAllocation': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], 'streamOrderedAllocation', None),
    'shfl_scan': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], 'CheckSum: 2073600', None),
    'threadFenceReduction': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], '', None),
    'reduction': ('samples', 'Samples/2_Concepts_and_Techniques', None, ['--n=65536'], 'Test passed', None),
    'scan': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], 'PASSED', None),
    'conjugateGradientMultiBlockCG': ('samples', 'Samples/4_CUDA_Libraries', None, [], 'Error amount', None)}
ARCHITECTURE = {'samples': '90'}  # every other checkout: 90a
# Our own host programs, in drivers/: source, flags. {NAME} stands for the path of that checkout.
KITTENS = '-std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --use_fast_math -I{thunderkittens}/include -I{thunderkittens}/prototype '
FAST_CU = '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I{fast_cu}/examples/matmul'
FLASHMLA = ('-std=c++20 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I{flashmla}/csrc -I{flashmla}/csrc/sm90 '
            '-I{flashmla}/csrc/kerutils/include -I{cutlass}/include')
SGLANG = '-std=c++20 -O3 -DSGL_CUDA_ARCH=900 -I{packages}/sglang/kernels/jit/include -I{packages}/sglang/kernels/jit/csrc -I{packages}/tvm_ffi/include'
DEEPSELECT = '{packages}/sglang/kernels/jit/csrc/deep_select/vendor'
FLASHINFER = '{packages}/flashinfer/data'
CAKE = '-I{packages}/flashinfer/cake_'
NATTEN = '{packages}/natten-0.21.7'
TRANSFORMER_ENGINE = '{packages}/transformer_engine_torch-2.20.2/common_headers'
NEW_KITTENS = '-std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --use_fast_math '  # other commits of ThunderKittens
HPC_OPS = '-O3 --expt-extended-lambda -I{hpc_ops} -I{hpc_ops}/3rd/cutlass/include'
LMDEPLOY = f'-O3 --expt-extended-lambda -DFMT_HEADER_ONLY -I{{lmdeploy}} -I{{cutlass}}/include -I{FLASHINFER}/spdlog/include'
DEEPEP = '-std=c++20 -O3 -I{deepep}/csrc/kernels/legacy -I{deepep}/deep_ep/include -I{deepep} -I{packages}/flashinfer/data/cutlass/include'
COLFAX = ' '.join(f'-I{folder}' for folder in ('{colfax_kernels}/src/fmha-pipeline', '{colfax_kernels}/lib', '{colfax_kernels}/include',
                                               '{packages}/cutlass_library/source/include', '{packages}/cutlass_library/source/tools/util/include'))
HELIX = f'{FLASHINFER}/csrc'
CUTLASS = '-I{cutlass}/include -I{cutlass}/tools/util/include'
EXAMPLES = '-I{cutlass}/examples -I{cutlass}/examples/common'
MIRAGE = ('-O3 -DMAX_WORKER_PER_SCHEDULER=128 -DMIRAGE_GRACE_HOPPER -DMIRAGE_BACKEND_USE_CUDA -DMPK_TARGET_CC=90 -DMPK_ENABLE_TMA '
          '-I{mirage}/include/mirage/persistent_kernel -I{mirage}/include ' + CUTLASS)
MAGI_FOLDER = '{magiattention}/magi_attention/csrc'
MAGI = (f'-O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I{MAGI_FOLDER}/flexible_flash_attention -I{MAGI_FOLDER}/common -I{MAGI_FOLDER} '
        '-I{hpc_ops}/3rd/cutlass/include')
FLUX = ('-O3 -DNDEBUG --expt-extended-lambda -I{flux}/include -I{flux}/src -I{flux}/3rdparty/cutlass/include '
        '-I{flux}/3rdparty/cutlass/tools/util/include')
DEEPERGEMM = '-O3 -I{deepergemm}/deep_gemm/include -I{cutlass}/include'
MSCCLPP = '-O3 -I{mscclpp}/include'
OWN = os.path.join(TESTS, 'foreign', 'drivers')
DRIVERS = {
    'flash_attention': ('flash_attention', '-O3 -DNDEBUG -DCUTLASS_ENABLE_GDC_FOR_SM90 -DCAUSAL=0 --expt-extended-lambda --use_fast_math '
                                           '-I{flash_attention}/hopper -I{cutlass}/include'),
    'flash_attention_causal': ('flash_attention', '-O3 -DNDEBUG -DCUTLASS_ENABLE_GDC_FOR_SM90 -DCAUSAL=1 --expt-extended-lambda --use_fast_math '
                                                  '-I{flash_attention}/hopper -I{cutlass}/include'),
    'deepgemm_bf16': ('deepgemm_bf16', '-std=c++20 -O3 -I{deepgemm}/deep_gemm/include -I{cutlass}/include'),
    'deepgemm_fp8': ('deepgemm_fp8', '-std=c++20 -O3 -I{deepgemm}/deep_gemm/include -I{cutlass}/include'),
    'thunderkittens': ('thunderkittens', KITTENS + '-I{thunderkittens}/kernels/gemm/bf16_h100'),
    'thunderkittens_mha': ('thunderkittens_mha', KITTENS + '-I{thunderkittens}/kernels/attention/mha_h100'),
    'thunderkittens_backward': ('thunderkittens_backward', KITTENS + '-I{thunderkittens}/kernels/attention/mha_h100'),
    'thunderkittens_lcf': ('thunderkittens_lcf', KITTENS + '-I{thunderkittens}/kernels/attention/mha_h100_lcf'),
    'thunderkittens_rotary': ('thunderkittens_rotary', KITTENS + '-I{thunderkittens}/kernels/rotary'),
    'fast_cu': ('fast_cu', FAST_CU),
    **{f'fast_cu_{number}': ('fast_cu', f'-DKERNEL={number} ' + FAST_CU) for number in range(7, 12)},
    'fast_cu_pingpong': ('fast_cu', '-DPINGPONG -DKERNEL=10 ' + FAST_CU),
    'flashmla': ('flashmla', FLASHMLA),
    'flashmla_sparse': ('flashmla_sparse', FLASHMLA),
    'flashmla_fp8': ('flashmla_fp8', FLASHMLA),
    'sageattention': ('sageattention', '-O3 -DCAUSAL=0 --expt-extended-lambda --use_fast_math -I{sageattention}/csrc'),
    'cub_transform': ('cub_transform', '-O3'),
    'cute_wgmma_tma': ('cute_wgmma_tma', '-O3 -I{cutlass}/examples/cute/tutorial/hopper -I{cutlass}/include -I{cutlass}/tools/util/include'),
    'simplegemm_pingpong': ('simplegemm_pingpong', '-O3 -I{simplegemm}'),
    'matmultut_v10': ('matmultut_v10', '-O3 -I{matmultutorial}/examples/matmul/this-sm90'),
    'matmultut_attention': ('matmultut_attention', '-O3 -I{matmultutorial}/examples/attention/cuda/gqa-hopper'),
    'tma_transpose': ('tma_transpose', '-O3 -I{effective_transpose}'),
    'flashinfer_xqa': ('flashinfer_xqa', '-O3 -DNDEBUG -I{flashinfer}/csrc/xqa'),
    'sglang_norm_residual': ('sglang_norm_residual', SGLANG),
    'sglang_fused_a_gemm': ('sglang_fused_a_gemm', SGLANG),
    'sglang_hicache': ('sglang_hicache', SGLANG),
    'sglang_sparse_mla': ('sglang_sparse_mla', '-std=c++20 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I{packages}/sglang/kernels/jit/csrc '
                                               '-I{packages}/flashinfer/data/cutlass/include'),
    'deepselect_cluster': ('deepselect_cluster', f'-std=c++20 -O3 -I{DEEPSELECT} -I{DEEPSELECT}/3rdparty/kerutils/include '
                                                 '-I{packages}/flashinfer/data/cutlass/include'),
    'tensorrt_llm_tinygemm': ('tensorrt_llm_tinygemm', '-O3 -I{packages}/flashinfer/data/csrc -I{packages}/flashinfer/data/include '
                                                       '-I{packages}/tvm_ffi/include'),
    'humming_gemm': ('humming_gemm', '-O3 -I{packages}/humming/include -I{packages}/flashinfer/data/cutlass/include'),
    'transformer_engine_quantize': ('transformer_engine_quantize', f'-O3 -I{TRANSFORMER_ENGINE} -I{TRANSFORMER_ENGINE}/common/include'),
    'flashinfer_mamba': ('flashinfer_mamba', '-std=c++20 -O3 -diag-suppress=2361 -DFLASHINFER_ENABLE_BF16 -DFLASHINFER_MAMBA_ENABLE_SM90 '
                                             '-I{packages}/flashinfer/data/include'),
    'flashinfer_mla_swa': ('flashinfer_mla_swa', f'-O3 -DNDEBUG --use_fast_math -I{FLASHINFER}/include -I{FLASHINFER}/cutlass/include'),
    'flashinfer_mla_swa_ahead': ('flashinfer_mla_swa', f'-O3 -DNDEBUG -DTACTIC=M16S2 --use_fast_math -I{FLASHINFER}/include -I{FLASHINFER}/cutlass/include'),
    'flashinfer_paged_prefill': ('flashinfer_paged_prefill',
                                 '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math ' +
                                 ' '.join(f'-I{FLASHINFER}/{folder}' for folder in ('cccl/libcudacxx/include', 'cccl/cub', 'cccl/thrust', 'include', 'cutlass/include',
                                                                                    'cutlass/tools/util/include'))),
    'tensorrt_llm_fmha': ('tensorrt_llm_fmha', f'-O3 -DNDEBUG --use_fast_math -I{FLASHINFER}/csrc/fmha_v2 -I{FLASHINFER}/include'),
    'cake_sparse_attention': ('cake_sparse_attention', f'-O3 --use_fast_math {CAKE}vsa_sm90_backend/csrc'),
    'cake_delta_product': ('cake_delta_product', f'-O3 --use_fast_math {CAKE}gdp_backend/csrc'),
    'natten_neighborhood': ('natten_neighborhood', '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math -DCUTLASS_ARCH_MMA_SM90_SUPPORTED '
                                                   f'-I{NATTEN}/csrc/include -I{NATTEN}/third_party/cutlass/include'),
    'vllm_cooperative_topk': ('vllm_cooperative_topk', '-std=c++20 -O3 -I{packages}/vllm-0.33.0/csrc'),
    'deepgemm_mqa_logits': ('deepgemm_mqa_logits', '-std=c++20 -O3 -I{packages}/deep_gemm/include'),
    'cub_merge': ('cub_merge', '-O3 -I{packages}/nvidia/cu13/include/cccl'),
    'tilelang_attention': ('tilelang_attention', '-O3 -DENABLE_BF16'),
    'deepep_expand': ('deepep_expand', '-std=c++20 -O3 -I{packages}/deepinfer_ep-2.5.0/deep_ep/include'),
    'torchao_mx_rearrange': ('torchao_mx_rearrange', '-O3 -I{torchao}/torchao/csrc/cuda/mx_kernels'),
    'flashkda': ('flashkda', '-O3 --expt-extended-lambda -I{flashkda}/csrc/smxx -I{flashkda}/csrc -I{cutlass}/include'),
    'hpc_prefill': ('hpc_prefill', HPC_OPS),
    'hpc_decode': ('hpc_decode', '-DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED ' + HPC_OPS),
    'hpc_group_gemm': ('hpc_group_gemm', '-DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED ' + HPC_OPS),
    'hpc_gemm_splitk': ('hpc_gemm_splitk', HPC_OPS),
    'spargeattn': ('spargeattn', '-O3 --expt-extended-lambda --use_fast_math -I{spargeattn}/csrc/qattn'),
    'cub_scan_lookahead': ('cub_scan_lookahead', '-O3 -I{packages}/nvidia/cu13/include/cccl'),
    'nvfuser_cluster_reduce': ('nvfuser_cluster_reduce', f'-O3 -I{OWN}/nvfuser -I{{nvfuser}}'),
    'deepep_intranode': ('deepep_intranode', DEEPEP),
    'deepep_intranode_2': ('deepep_intranode', '-DRANKS=2 ' + DEEPEP),
    'trtllm_helix': ('trtllm_helix', f'-O3 -I{HELIX}/nv_internal -I{HELIX}/nv_internal/include -I{HELIX}'),
    'lmdeploy_recurrent': ('lmdeploy_recurrent', LMDEPLOY),
    'lmdeploy_recurrent_32': ('lmdeploy_recurrent', '-DBLOCK_DV=32 ' + LMDEPLOY),
    'colfax_fmha_ws': ('colfax_fmha_ws', '-O3 -DNDEBUG -DEXECMODE=1 -DCLUSTERN=2 --expt-extended-lambda ' + COLFAX),
    'flash_attention_3_backward': ('flash_attention_3_backward', '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math '
                                                                 '-I{flash_attention}/hopper -I{cutlass}/include'),
    'deepgemm_k_grouped': ('deepgemm_k_grouped', '-std=c++20 -O3 -I{packages}/deep_gemm/include'),
    'deepgemm_paged_mqa': ('deepgemm_paged_mqa', '-std=c++20 -O3 -I{packages}/deep_gemm/include'),
    'alpha_moe': ('alpha_moe', '-O3'),
    'fastvideo_block_sparse': ('fastvideo_block_sparse', NEW_KITTENS + '-I{fastvideo}/fastvideo-kernel/include/tk/include'),
    'megakernel_llama': ('megakernel_llama', NEW_KITTENS + '-I{megakernels}/include -I{megakernels}/demos/low-latency-llama '
                                                           '-I{megakernels}/ThunderKittens/include'),
    'cula_kda': ('cula_kda', '-std=c++20 -O3 -DNDEBUG -DCULA_SM90A_ENABLED --expt-extended-lambda --use_fast_math -I{cula}/csrc '
                             '-I{cula}/csrc/kerutils/include -I{cutlass}/include -I{cutlass}/tools/util/include'),
    'cutlass_conv_fprop': ('cutlass_conv_fprop', '-O3 -DNDEBUG ' + CUTLASS),
    'deepgemm_bmn_bnk': ('deepgemm_bmn_bnk', '-std=c++20 -O3 -I{packages}/deep_gemm/include'),
    'deepgemm_mega_moe': ('deepgemm_mega_moe', '-std=c++20 -O3 -I{packages}/deep_gemm/include'),
    'deepgemm_mega_moe_2': ('deepgemm_mega_moe', '-std=c++20 -O3 -DCLUSTER=2 -DEARLY=1 -I{packages}/deep_gemm/include'),
    'deepergemm_both': ('deepergemm', '-DCLUSTER=2 ' + DEEPERGEMM),
    'deepergemm_sides': ('deepergemm', '-DCLUSTER=1 -DTILE_M=64 ' + DEEPERGEMM),
    'flashinfer_topk_clusters': ('flashinfer_topk_clusters', f'-O3 -I{FLASHINFER}/include -I{{packages}}/tvm_ffi/include'),
    'flashinfer_allreduce_fusion': ('flashinfer_allreduce_fusion', f'-O3 -I{FLASHINFER}/include -I{FLASHINFER}/spdlog/include'),
    'flashinfer_fp8_prefill': ('flashinfer_fp8_prefill',
                               '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math ' +
                               ' '.join(f'-I{FLASHINFER}/{folder}' for folder in ('cccl/libcudacxx/include', 'cccl/cub', 'cccl/thrust', 'include', 'cutlass/include',
                                                                                  'cutlass/tools/util/include', 'spdlog/include'))),
    'cutlass_pipeline_persistent': ('cutlass_pipeline_persistent', '-O3 -I{cutlass}/test/unit/pipeline ' + CUTLASS),
    'cutlass_stream_k': ('cutlass_stream_k', '-O3 -DNDEBUG ' + CUTLASS),
    'cutlass_gather': ('cutlass_gather', f'-O3 -DNDEBUG {EXAMPLES} -I{{cutlass}}/examples/52_hopper_gather_scatter_fusion {CUTLASS}'),
    'cutlass_fmha_backward': ('cutlass_fmha_backward', '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math '
                                                       f'-I{{cutlass}}/examples/88_hopper_fmha {EXAMPLES} {CUTLASS}'),
    'mscclpp_bulk': ('mscclpp_bulk', MSCCLPP),
    'mscclpp_rsag_pipeline': ('mscclpp_rsag_pipeline', f'-std=c++20 {MSCCLPP} -I{{mscclpp}}/src/ext/collectives/include -I{{mscclpp}}/src/core/include'),
    'deepep_low_latency': ('deepep_low_latency', f'-I{OWN}/deepep {DEEPEP}'),
    'mirage_megakernel': ('mirage_megakernel', MIRAGE),
    'mirage_megakernel_split': ('mirage_megakernel', MIRAGE),
    'mirage_moe': ('mirage_moe', MIRAGE),
    'magi_ffa': ('magi_ffa', MAGI),
    'magi_ffa_sparse': ('magi_ffa', '-DGATHER=1 ' + MAGI),
    'magi_ffa_bwd': ('magi_ffa_bwd', MAGI),
    'magi_ffa_bwd_swap': ('magi_ffa_bwd', '-DSWAP=1 ' + MAGI),
    'fbgemm_hstu': ('fbgemm_hstu', '-O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I{fbgemm}/fbgemm_gpu/experimental/hstu/src/hstu_hopper '
                                   '-I{cutlass_3_6}/include'),
    'flux_ag_gemm': ('flux_ag_gemm', FLUX),
    'flux_ag_gemm_pingpong': ('flux_ag_gemm', '-DPINGPONG=1 ' + FLUX)}
# Files that a host program includes as NAME_part.cuh: all that comes before this line (None = all of the file), but for what comes from one line up to another one.
HEADING = '// ' + '-' * 96 + '\n// '
PARTS = {
    'alpha_moe': ('{alpha_moe}/csrc/kernels/fused_moe_w8a8/fused_moe_w8a8_up_down_acc.cu', 'template<int BM, int BN, int WN>\nvoid dispatch_stages('),
    'colfax_fmha_ws': ('{colfax_kernels}/src/fmha-pipeline/fmha_forward.cu', '//  The main driver function.\n'),
    'fastvideo_block_sparse': ('{fastvideo}/fastvideo-kernel/csrc/attention/block_sparse_h100.cu', '#include "pyutils/torch_helpers.cuh"\n'),
    'deepep_low_latency': ('{deepep}/csrc/kernels/legacy/internode_ll.cu', None),
    'mscclpp_bulk': ('{mscclpp}/test/mp_unit/bulk_pattern_tests.cu', 'TEST(BulkPatternTest, CombineReduce)', ('#include <algorithm>\n', 'namespace {\n\nconstexpr int kNumTokens'),
                     ('namespace {\n\n// Peer pool pointers', HEADING + 'Dispatch:'), ('TEST(BulkPatternTest, Dispatch)', HEADING + 'Combine:'),
                     ('TEST(BulkPatternTest, Combine)', HEADING + 'CombineReduce:')),
    'mscclpp_rsag_pipeline': ('{mscclpp}/src/ext/collectives/allreduce/allreduce_rsag_pipeline.cu', None,
                              ('template <ReduceOp OpType, typename T, typename AccumT = T>\nstruct AllreduceRsAgPipelineAdapter', '}  // namespace collective'))}


def sources_and_flags(name, row, checkouts):
    if name in DRIVERS:
        source, flags = DRIVERS[name]
        return [os.path.join(OWN, source + '.cu')], [f'-I{OWN}', *flags.format(**checkouts).split()]
    checkout, folder, source, *_ = row
    root = checkouts[checkout]
    at = os.path.join(root, folder, name)
    sources = [source] if source else sorted(f for f in os.listdir(at) if f.endswith(('.cu', '.cpp')))
    flags = ['-O2', f'-I{at}'] + [f'-I{root}/{f}' for f in ('include', 'tools/util/include', 'examples/common', 'Common')]
    return [os.path.join(at, f) for f in sources], flags


def start_of_python(name, python, target):
    """A script that starts a program of python/, and keeps what Triton compiles beside itself."""
    with open(target, 'w') as file:
        file.write(f'#!/bin/sh\nTRITON_CACHE_DIR={target}.cache TRITON_DEFAULT_FP_FUSION=1 exec {python} {TESTS}/foreign/python/{name}.py "$@"\n')
    os.chmod(target, 0o755)
    return target


def headers_of_tilelang(name, python, scratch):
    """The folders of the headers that drivers/NAME.cu includes; TileLang writes one of the headers."""
    ran = subprocess.run([python, f'{TESTS}/foreign/python/{name}.py', os.path.join(scratch, name + '.cuh')], capture_output=True, text=True, check=True)
    package = ran.stdout.splitlines()[-1]
    return [scratch, f'{package}/src', f'{package}/3rdparty/cutlass/include']


def split_at(text, line, path):
    before, found, after = text.partition(line)
    assert found, f'{path} has no {line}'
    return before, found + after


def write_part(name, checkouts, scratch):
    """Writes the part of a file that drivers/NAME.cu includes."""
    path, end, *left_out = PARTS[name]
    with open(path.format(**checkouts)) as file:
        part = file.read()
    if end is not None:
        part = split_at(part, end, path)[0]
    for first, following in left_out:
        before, rest = split_at(part, first, path)
        part = before + split_at(rest, following, path)[1]
    with open(os.path.join(scratch, name + '_part.cuh'), 'w') as file:
        file.write(part)



def compile_program(name, row, checkouts, scratch):
    """The program's path; an error text where nvcc refuses."""
    target = os.path.join(scratch, name)
    if row[0] == 'triton':
        return start_of_python(name, checkouts['triton'], target), None
    if os.path.exists(target):
        return target, None
    sources, flags = sources_and_flags(name, row, checkouts)
    if row[0] == 'tilelang':
        flags += [f'-I{folder}' for folder in headers_of_tilelang(name, checkouts['tilelang'], scratch)]
    if name in PARTS:
        write_part(name, checkouts, scratch)
        flags.append('-I' + scratch)
    arch = ARCHITECTURE.get(row[0], '90a')
    standard = [] if any(flag.startswith('-std') for flag in flags) else ['-std=c++17']
    command = ['nvcc', *standard, '-lineinfo', '-w', '--expt-relaxed-constexpr', '-gencode', f'arch=compute_{arch},code=[sm_{arch},compute_{arch}]',
               *flags, '-o', target, *sources, '-lcuda']
    ended = subprocess.run(command, capture_output=True, text=True)
    return target, None if ended.returncode == 0 else ended.stderr.strip().splitlines()[-1]


def run(command, limit, folder):
    """What it printed, how it ended, seconds, and the peak memory of its largest process."""
    for name in os.listdir(folder):
        if name.startswith('session.db'):
            os.remove(os.path.join(folder, name))
    begun = time.monotonic()
    with open(os.path.join(folder, 'output.txt'), 'w+') as file:
        child = subprocess.Popen(['stdbuf', '-oL', *command], stdout=file, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True)
        status = None
        while time.monotonic() - begun < limit:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.02)
        else:
            os.killpg(child.pid, signal.SIGTERM)
            _, status, usage = os.wait4(child.pid, 0)
        file.seek(0)
        seconds = time.monotonic() - begun
        return {'text': file.read(), 'status': os.waitstatus_to_exitcode(status), 'seconds': seconds, 'processor_seconds': usage.ru_utime + usage.ru_stime,
                'peak_mib': usage.ru_maxrss / 1024, 'timed_out': seconds >= limit}


def end_of(got, check):
    if got['timed_out']:
        return 'not done in time'
    reason = re.search(r'wsdbg simulator: (.*)', got['text'])
    if 'HANG:' in got['text']:
        return 'a verdict: ' + re.search(r'HANG: (.*)', got['text']).group(1)
    if got['status'] == 0 and check in got['text']:
        return 'passes'
    return 'fails: ' + (re.sub(r'^.*PTX line \d+: ', '', reason.group(1)) if reason else f"status {got['status']}")[:200]


COSTS = ('processor_seconds', 'peak_mib')
SESSION = ['-o', 'session.db']  # in --scratch; run() removes it before the next program


def search_races(wsdbg, program, arguments, check, args):
    """Whether the program still passes, and the codes of all reports."""
    ran = run([*wsdbg, 'run', '--device', 'sim', '--races', *SESSION, '--', program, *arguments], args.limit, args.scratch)
    whole = re.search(r'wsdbg: (no race|\d+ races?) found', ran['text'])
    found = re.findall(r'^wsdbg: ([A-Z][A-Z_]+) in ', ran['text'], re.M)
    return {**{key: ran[key] for key in COSTS}, 'end': 'passes' if whole and check in ran['text'] and not ran['timed_out'] else end_of(ran, check), 'found': found}


def explore(wsdbg, program, arguments, check, launch, args):
    command = [*wsdbg, 'explore', *SESSION, '--schedules', str(args.schedules), '--launch', str(launch), '--', program, *arguments]
    ran = run(command, args.limit, args.scratch)
    tried = re.search(r'no hang in (\d+) schedules? of launch', ran['text'])
    return {**{key: ran[key] for key in COSTS}, 'end': end_of(ran, check), 'launch': launch, 'schedules': int(tried.group(1)) if tried else None}


def measure(name, row, program, args):
    wsdbg = [os.path.join(os.path.abspath(args.build), 'bin', 'wsdbg')]
    *_, arguments, check, launch = row
    ran = run([*wsdbg, 'run', '--device', 'sim', *SESSION, '--', program, *arguments], args.limit, args.scratch)
    out = {key: ran[key] for key in COSTS}
    out.update(arguments=arguments, end=end_of(ran, check), check=check, multiprocessors=args.multiprocessors)
    if out['end'] == 'passes':
        out['races'] = search_races(wsdbg, program, arguments, check, args)
        if launch is not None:
            out['explore'] = explore(wsdbg, program, arguments, check, launch, args)
    return out


def compare(name, row, program, args):
    """Runs under the build of before and under this one, in turns."""
    rows = {'before': [], 'now': []}
    for _ in range(args.runs):
        for which, build in (('before', args.before), ('now', args.build)):
            got = run([os.path.join(os.path.abspath(build), 'bin', 'wsdbg'), 'run', '--device', 'sim', *SESSION, '--', program, *row[3]], args.limit, args.scratch)
            assert end_of(got, row[4]) == 'passes', got['text']
            rows[which].append({key: got[key] for key in ('seconds', 'processor_seconds', 'peak_mib')})
            print(which, rows[which][-1], flush=True)
    return {'name': name, 'arguments': row[3], 'rows': rows}


def compared(data):
    lines = ['', f"`{data['name']} {' '.join(data['arguments'])}`, `--before`, runs in turns:", '', '| build | processor seconds | seconds | peak MiB |', '|---|---|---|---|']
    for which, rows in data['rows'].items():
        cells = [results.cell(results.spread([row[key] for row in rows]), 1) for key in ('processor_seconds', 'seconds', 'peak_mib')]
        lines.append(f"| {which} | {' | '.join(cells)} |")
    return lines


def races_of(row):
    """Four cells: the races found, processor seconds, their ratio to the run without --races ('?' below 0.2 s, where starting takes most of it), peak MiB."""
    if 'races' not in row:
        return '- | - | - | -'
    races = row['races']
    found = ', '.join(f'{code} × {races["found"].count(code)}' for code in dict.fromkeys(races['found'])) or 'none'
    ratio = f"{races['processor_seconds'] / row['processor_seconds']:.1f}" if row['processor_seconds'] >= 0.2 else '?'
    return f"{found if races['end'] == 'passes' else races['end']} | {races['processor_seconds']:.1f} | {ratio} | {races['peak_mib']:.0f}"


def explored_of(row):
    if 'explore' not in row:
        return '- | - | -'
    explored = row['explore']
    what = explored['end'] if explored['end'] != 'passes' else '?' if explored['schedules'] is None else explored['schedules']
    return f"{what} | {explored['processor_seconds']:.1f} | {explored['peak_mib']:.0f}"


def commit_of(checkout):
    """Of a checkout without changes; None = not known."""
    git = ['git', '-C', checkout]
    head = subprocess.run([*git, 'rev-parse', '--verify', 'HEAD'], capture_output=True, text=True)
    changed = subprocess.run([*git, 'status', '--porcelain', '--untracked-files=no'], capture_output=True, text=True)
    return head.stdout.strip() if head.returncode == changed.returncode == 0 and not changed.stdout else None


def commits_of(project, rows):
    """What the rows rest on; the commit that is pinned, where a row does not know."""
    url, pinned = PINNED[project]
    used = {row.get('commits', {}).get(project) for row in rows if row.get('commits') is None or project in row['commits']} or {None}
    words = [f'`{(commit or pinned)[:12]}`' + ('' if commit else ' (not checked)') for commit in sorted(used, key=str)]
    return f"{url.split('github.com/')[1]} {' and '.join(words)}"


def page(data):
    commits = ', '.join(commits_of(project, data['rows'].values()) for project in PINNED)
    lines = ['## Programs of others', '',
             f"`tests/foreign/run.py`: {data['processor']}; processor seconds, of all processes from start to end (other work ran beside it, so they say more than seconds), on a chip of "
             f"{data['multiprocessors']} multiprocessors. Compiled with `nvcc -lineinfo -gencode arch=compute_90a,code=[sm_90a,compute_90a]` (samples: `90`) from unchanged sources: {commits}; of the packages {', '.join(PACKAGES)}. The static "
             'runtime is nvcc\'s default. FlashAttention, DeepGEMM, ThunderKittens, fast.cu, FlashMLA, SageAttention, CUB (of the CUDA toolkit), the CuTe tutorial, '
             'simplegemm, MatmulTutorial, effective_transpose, FlashInfer, ao, FlashKDA, hpc-ops, SpargeAttn, Fuser, DeepEP, lmdeploy, cutlass-kernels, Alpha-MoE, '
             'FastVideo, Megakernels, cuLA, DeeperGEMM, mirage, MSCCL++, MagiAttention, FBGEMM, flux and the packages have host programs of our own, `tests/foreign/drivers`, '
             'which compare with results made on the host. '
             'Triton 3.9.0 is from PyPI and runs without PyTorch; `tests/foreign/python/triton_matmul.py` is a matmul of our own with `warp_specialize=True`. '
             'TileLang 0.1.15 makes the kernel of `tests/foreign/python/tilelang_attention.py`, an attention of our own. '
             '"passes": exit status 0 and the program\'s own line, where it prints one; no verdict. '
             f"Explored: {data['schedules']} schedules of one launch, with no hang and no fault where a number stands; a dash: not done.", '',
             '| program | arguments | ends | processor s | peak MiB | races found | processor s | times | peak MiB | schedules | processor s | peak MiB |', '|---|---|---|---|---|---|---|---|---|---|---|---|']
    for name, row in data['rows'].items():
        lines.append(f"| `{name}` | `{' '.join(row['arguments']) or '-'}` | {row['end'].replace('|', '/')} | {row['processor_seconds']:.1f} | {row['peak_mib']:.0f} "
                     f"| {races_of(row)} | {explored_of(row)} |")
    passed = sum(row['end'] == 'passes' for row in data['rows'].values())
    ratios = [row['races']['processor_seconds'] / row['processor_seconds'] for row in data['rows'].values() if 'races' in row and row['processor_seconds'] >= 0.2]
    return '\n'.join([*lines, '', f"{passed} of {len(data['rows'])} pass. Looking for races costs {min(ratios):.1f} to {max(ratios):.1f} times the processor time."
                      if ratios else '', *(compared(data['compared']) if 'compared' in data else [])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--scratch', required=True)
    parser.add_argument('--build', default='build')
    for name in PINNED:
        parser.add_argument('--' + name.replace('_', '-'))
    parser.add_argument('--packages')
    parser.add_argument('--triton')
    parser.add_argument('--tilelang')
    parser.add_argument('--only', nargs='+', default=list(PROGRAMS))
    parser.add_argument('--limit', type=float, default=300, help='seconds for a program')
    parser.add_argument('--schedules', type=int, default=50)
    parser.add_argument('--multiprocessors', type=int, default=8)
    parser.add_argument('--before')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--no-page', action='store_true')
    args = parser.parse_args()
    args.scratch = os.path.abspath(args.scratch)
    checkouts = {key: os.path.abspath(getattr(args, key)) for key in (*PINNED, 'packages', 'triton', 'tilelang') if getattr(args, key)}
    data = results.load('sim').get('foreign', {'rows': {}})
    data.update(processor=results.machine(), pinned=PINNED, schedules=args.schedules, multiprocessors=args.multiprocessors)
    os.environ['WSDBG_SIM_MULTIPROCESSORS'] = str(args.multiprocessors)
    for name in args.only:
        needs = {PROGRAMS[name][0], *re.findall(r'{(\w+)}', DRIVERS.get(name, ('', ''))[1])} - {None}
        if not needs <= checkouts.keys():
            continue
        program, refused = compile_program(name, PROGRAMS[name], checkouts, args.scratch)
        if refused:
            print(name, refused)
            continue
        if args.before:
            data['compared'] = compare(name, PROGRAMS[name], program, args)
            results.save('foreign', data, page(data), 'sim')
            break
        data['rows'][name] = {**measure(name, PROGRAMS[name], program, args), 'commits': {key: commit_of(checkouts[key]) for key in sorted(needs & PINNED.keys())}}
        print(name, json.dumps(data['rows'][name]), flush=True)
        if not args.no_page:
            data['rows'] = {name: data['rows'][name] for name in PROGRAMS if 'multiprocessors' in data['rows'].get(name, {})}
            results.save('foreign', data, page(data), 'sim')


if __name__ == '__main__':
    main()
