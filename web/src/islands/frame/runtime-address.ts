/** Where pages load ONNX Runtime from, as WebAssembly: from this site. */
export { default as runtimeAddress } from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url'
