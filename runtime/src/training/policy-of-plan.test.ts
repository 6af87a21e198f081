import { resolveTrainingPlan, type SpaceDescription, trainedParts } from '@agentgym/contract'
import { expect, test } from 'vitest'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { toolSpaces } from '../policy/testing/policy-cases.ts'
import { policyOfPlan } from './policy-of-plan.ts'

const plain: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
const policyOf = (settings: Record<string, unknown>, algorithm = 'ppo', action?: SpaceDescription) =>
  policyOfPlan(resolveTrainingPlan({}, { algorithm, settings }), { ...toolSpaces(), ...(action && { action }) })

const parametersOf = (settings: Record<string, unknown>) =>
  parameterLayout(policyOf(settings)).parameters.map(({ name, shape }) => ({ name, shape }))

test('every part of a call has a head', () => {
  const policy = policyOf({})
  expect(trainedParts(policy)).toEqual({
    ...{ tool_selection: true, parameter_selection: true, tool_execution: false, output_generation: false },
  })
  // 3 tools, a query of 32 units, a share, 3 reasons and stars.
  expect(parametersOf({})).toContainEqual({ name: 'actor.out.bias', shape: [3 + 32 + 1 + 3 + 1] })
  expect(parametersOf({})).toContainEqual({ name: 'pointer.refund.order.weight', shape: [32, 3] })
  expect(parametersOf({})).toContainEqual({ name: 'log_std', shape: [2] })
})

test('without parameter_selection, heads of parameters do not exist and defaults take their place', () => {
  const policy = policyOf({ parameter_selection: false })
  expect(trainedParts(policy)).toMatchObject({ tool_selection: true, parameter_selection: false })
  expect(policy.action.map(({ fixed }) => fixed)).toEqual([undefined, [0], [50], [1], [3]])
  const parameters = parametersOf({ parameter_selection: false })
  expect(parameters).toContainEqual({ name: 'actor.out.bias', shape: [3] })
  expect(parameters.filter(({ name }) => /pointer|log_std/.test(name))).toEqual([])
})

test('without tool_selection, the first legal tool is called and its parameters are chosen', () => {
  const policy = policyOf({ tool_selection: false })
  expect(trainedParts(policy)).toMatchObject({ tool_selection: false, parameter_selection: true })
  expect(policy.action[0].fixed).toEqual([0])
  expect(parametersOf({ tool_selection: false })).toContainEqual({ name: 'actor.out.bias', shape: [32 + 1 + 3 + 1] })
})

test.each([
  [{ tool_selection: false, parameter_selection: false }, 'ppo', undefined, 'nothing is left to train'],
  [{ parameter_selection: false }, 'ppo', plain, 'this one has none'],
  [{ tool_selection: false }, 'ppo', plain, 'this one has none'],
  [{}, 'dqn', undefined, 'tools without parameters'],
  [{ parameter_selection: false }, 'dqn', undefined, 'tools without parameters'],
])('%j with %s is refused', (settings, algorithm, action, words) => {
  expect(() => policyOf(settings, algorithm, action)).toThrow(words)
})
