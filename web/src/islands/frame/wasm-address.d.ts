/** The address of a WebAssembly file, by Vite. */
declare module '*.wasm?url' {
  const address: string
  export default address
}
