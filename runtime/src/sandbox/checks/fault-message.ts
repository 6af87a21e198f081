import type { ErrorReport } from '@agentgym/contract'

/** What went wrong and how to mend it, in one message of a check. */
export function faultMessage({ message, hint }: ErrorReport): string {
  return hint === undefined ? message : `${message} ${hint}`
}
