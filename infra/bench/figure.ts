/** One measured figure with the bar it is held to, if any: at least that, or at most where lower is better. */
export type Figure = { id: string; what: string; value: number; unit: string; bar: number | null; lower?: boolean }
