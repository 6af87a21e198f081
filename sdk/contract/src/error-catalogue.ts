/**
 * Every code that an expected failure can carry. Codes are stable: scripts match on them.
 * `exit` is the exit status of the CLI: 1 the work failed, 2 wrong use or invalid input. `status` is the HTTP status of an
 * answer that carries the code.
 */
export const errorCatalogue = {
  config_invalid: {
    exit: 2,
    status: 400,
    summary: 'A setting is unknown, has the wrong type or lies outside its range.',
  },
  usage_invalid: { exit: 2, status: 400, summary: 'The command line is wrong.' },
  file_not_found: { exit: 2, status: 404, summary: 'A file or folder that was named does not exist.' },
  manifest_invalid: {
    exit: 2,
    status: 422,
    summary: 'A package.json or agent.json is missing or does not match its schema.',
  },
  agent_invalid: {
    exit: 2,
    status: 422,
    summary: 'An agent package is incomplete or its model does not match its manifest.',
  },
  scenario_mismatch: {
    exit: 2,
    status: 409,
    summary: 'An agent or checkpoint belongs to another scenario version than the one given.',
  },
  checkpoint_invalid: { exit: 2, status: 422, summary: 'A checkpoint cannot be read or belongs to other settings.' },
  execution_provider_unavailable: { exit: 2, status: 503, summary: 'CUDA was asked for and is not present.' },
  setup_incomplete: { exit: 2, status: 503, summary: 'A part that the set-up builds is missing, such as the learner.' },
  request_invalid: { exit: 2, status: 422, summary: 'A request to the server does not match its schema.' },
  request_too_large: { exit: 2, status: 413, summary: 'The body of a request is larger than the server takes.' },
  endpoint_not_found: { exit: 2, status: 404, summary: 'The server has nothing at this address.' },
  scenario_invalid: { exit: 1, status: 422, summary: 'The scenario does not follow the contract.' },
  scenario_build_failed: { exit: 1, status: 422, summary: 'The scenario could not be bundled.' },
  scenario_timeout: { exit: 1, status: 422, summary: 'A call into the scenario did not return within its limit.' },
  scenario_out_of_memory: { exit: 1, status: 422, summary: 'The scenario used more memory than it may.' },
  scenario_crashed: { exit: 1, status: 422, summary: 'The scenario ended its process.' },
  scenario_threw: { exit: 1, status: 422, summary: 'The scenario threw an error.' },
  scenario_nondeterministic: { exit: 1, status: 422, summary: 'The same seed gave two different trajectories.' },
  reward_not_finite: { exit: 1, status: 422, summary: 'A reward was not a finite number.' },
  observation_invalid: { exit: 1, status: 422, summary: 'An observation did not fit its space.' },
  metrics_invalid: { exit: 1, status: 422, summary: 'An episode metric was not a finite number.' },
  mask_invalid: { exit: 1, status: 422, summary: 'An action mask did not fit the action space.' },
  no_legal_action: { exit: 1, status: 422, summary: 'An action mask left no legal action.' },
  training_diverged: { exit: 1, status: 422, summary: 'Weights or losses were no longer finite.' },
  training_failed: { exit: 1, status: 500, summary: 'The trainer process failed for a reason of its own.' },
  training_cancelled: { exit: 1, status: 409, summary: 'The run was cancelled; its last checkpoint is kept.' },
  lease_lost: { exit: 1, status: 409, summary: 'A job has gone to another worker, or is over.' },
  integrity_mismatch: { exit: 1, status: 502, summary: 'What was downloaded is not what the registry recorded.' },
  server_unreachable: { exit: 1, status: 503, summary: 'The server did not answer.' },
  request_timeout: { exit: 1, status: 503, summary: 'The server took too long over a request and gave it up.' },
  internal_error: { exit: 1, status: 500, summary: 'AgentGym itself failed: a fault to report.' },
} as const satisfies Record<string, { exit: 1 | 2; status: number; summary: string }>

export type ErrorCode = keyof typeof errorCatalogue
