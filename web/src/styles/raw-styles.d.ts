/** A stylesheet as text. */
declare module '*.css?raw' {
  const rules: string
  export default rules
}
