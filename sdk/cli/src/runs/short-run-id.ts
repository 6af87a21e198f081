/** A run's id as people type it: its first eight characters, which every command takes. */
export function shortRunId(id: string): string {
  return id.slice(0, 8)
}
