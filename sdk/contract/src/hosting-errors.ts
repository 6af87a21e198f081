/** What a call of an agent can be refused for, or come to: part of the error catalogue. */
export const hostingErrors = {
  trial_exhausted: {
    exit: 1,
    status: 402,
    summary: 'The calls that the seller gives before a purchase are used up.',
  },
  agent_unavailable: {
    exit: 1,
    status: 503,
    summary: 'No worker has answered the call in time; nothing was counted.',
  },
  agent_failed: {
    exit: 1,
    status: 502,
    summary: "The agent's model failed at the call; nothing was counted.",
  },
} as const
