/** What the agent sees. `agentgym eval --on-traces` rebuilds it from logged traces in the same way. */

export type SeenCall = { tool: string; failed: boolean; result: string }

/** `tools` in the order of the scenario. Of each: 1 its last call worked, -1 it failed, 0 it was not called. */
export function observationOf(request: string, calls: readonly SeenCall[], tools: readonly string[]) {
  return {
    request,
    calls: tools.map((name) => {
      const last = calls.findLast(({ tool }) => tool === name)
      return last === undefined ? 0 : last.failed ? -1 : 1
    }),
    /** What the last call answered. */
    result: calls.at(-1)?.result ?? '',
  }
}
