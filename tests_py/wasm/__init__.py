"""Tests of the WASM backend below the engine: its kernels, memory and hosts, in wasmtime."""
