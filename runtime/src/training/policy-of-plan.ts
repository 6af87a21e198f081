import { AgentGymError, type PolicySpec, type TrainingPlan } from '@agentgym/contract'
import { buildPolicySpec, networkOf } from '../policy/policy-spec.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'

/**
 * The policy that a plan trains in a scenario, with the network of `settings`, which a resumed run takes from its
 * checkpoint. Throws `config_invalid` where the plan's algorithm cannot act there.
 */
export function policyOfPlan(
  plan: TrainingPlan,
  description: Pick<ScenarioDescription, 'observation' | 'action' | 'memory'>,
  settings: TrainingPlan['settings'] = plan.settings,
): PolicySpec {
  if (plan.algorithm === 'dqn') {
    if (description.action.type !== 'discrete') throw unsuitable(plan, 'one discrete action', 'ppo, a2c or grpo')
    if (plan.settings.execution_provider !== 'cpu') throw cpuOnly(plan)
  }
  return buildPolicySpec(description, {
    ...networkOf(settings, description.memory === true),
    // A Q-network learns from single steps.
    ...(plan.algorithm === 'dqn' ? { memory: undefined } : {}),
    head: plan.algorithm === 'dqn' ? (plan.settings.dueling ? 'dueling_q' : 'q') : undefined,
  })
}

function unsuitable({ algorithm }: TrainingPlan, wanted: string, others: string): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `${algorithm.toUpperCase()} needs a scenario with ${wanted}, and this one has other actions`,
    hint: `Use --algorithm ${others}.`,
    data: { field: 'algorithm' },
  })
}

function cpuOnly({ algorithm }: TrainingPlan): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `${algorithm.toUpperCase()} computes on the CPU only`,
    hint: 'Leave execution_provider out, or set it to cpu.',
    data: { field: 'execution_provider' },
  })
}
