const pattern = /^tune ([0-9a-f]{8}): /

/** The beginning of a study's ID, which tells the studies of an account apart. */
export function shortStudyId(id: string): string {
  return id.slice(0, 8)
}

/** Note of a run that `agentgym tune --remote` starts. `id`: of the study. */
export function studyNote(id: string, what: string): string {
  return `tune ${shortStudyId(id)}: ${what}`
}

/** The study that a run belongs to, as its note says; null: to none. */
export function studyOfNote(note: string | null): string | null {
  return pattern.exec(note ?? '')?.[1] ?? null
}
