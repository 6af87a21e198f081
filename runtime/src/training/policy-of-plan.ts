import {
  AgentGymError,
  isOffPolicy,
  type PolicySpec,
  type SpaceDescription,
  type TrainingPlan,
} from '@agentgym/contract'
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
    if (hasParameters(description.action)) throw unsuitable(plan, 'tools without parameters', 'ppo, a2c or grpo')
    if (description.action.type !== 'discrete') throw unsuitable(plan, 'one discrete action', 'ppo, a2c or grpo')
  }
  if (plan.algorithm === 'sac' && !hasOnlyBoxes(description.action)) {
    throw unsuitable(plan, 'box actions only', 'ppo, a2c or grpo')
  }
  const offPolicy = isOffPolicy(plan.algorithm)
  checkSelection(settings, description.action)
  return buildPolicySpec(description, {
    ...networkOf(settings, description.memory === true),
    ...(offPolicy ? { memory: undefined } : {}),
    head: headOf(plan),
  })
}

function hasParameters(action: SpaceDescription): boolean {
  return action.type === 'dict' && action.choice !== undefined
}

/** What is not trained must be there, and something must be left to train. */
function checkSelection(
  { tool_selection = true, parameter_selection = true }: Selection,
  action: SpaceDescription,
): void {
  if (tool_selection && parameter_selection) return
  const field = tool_selection ? 'parameter_selection' : 'tool_selection'
  const invalid = (message: string, hint: string) =>
    new AgentGymError({ code: 'config_invalid', message, hint, data: { field } })
  if (!hasParameters(action)) {
    throw invalid(
      `${field}=false is for scenarios whose tools have parameters, and this one has none`,
      `Leave ${field} out.`,
    )
  }
  if (tool_selection || parameter_selection) return
  throw invalid(
    'with tool_selection=false and parameter_selection=false, nothing is left to train',
    'Set one of them to true.',
  )
}

/** Checkpoints of older versions have neither. */
type Selection = { tool_selection?: boolean; parameter_selection?: boolean }

function headOf(plan: TrainingPlan): PolicySpec['head'] {
  if (plan.algorithm === 'sac') return 'squashed_gaussian'
  if (plan.algorithm !== 'dqn') return undefined
  return plan.settings.dueling ? 'dueling_q' : 'q'
}

function hasOnlyBoxes(space: SpaceDescription): boolean {
  if (space.type === 'dict') return space.entries.every((entry) => hasOnlyBoxes(entry.space))
  return space.type === 'box'
}

function unsuitable({ algorithm }: TrainingPlan, wanted: string, others: string): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `${algorithm.toUpperCase()} needs a scenario with ${wanted}, and this one has other actions`,
    hint: `Use --algorithm ${others}.`,
    data: { field: 'algorithm' },
  })
}
