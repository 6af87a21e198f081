import vm from 'node:vm'
import { type SpaceDescription, spaceLeaves } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { hostedSnippets } from './hosted-snippets.ts'

const snippetsOf = (space: SpaceDescription) =>
  hostedSnippets({
    name: '@acme/solver',
    version: '1.2.3',
    server: 'https://gym.example',
    observation: spaceLeaves(space),
  })
const zeros = (size: number) => Array.from({ length: size }, () => null)

/** Runs the snippet for Node.js against a client that notes what it was asked. */
async function runNode(
  space: SpaceDescription,
): Promise<{ options: object; asked: { messages: { content: string }[] } }> {
  const text = snippetsOf(space).find(({ title }) => /JavaScript/.test(title))?.text ?? ''
  const noted: { options?: object; asked?: object } = {}
  class OpenAI {
    constructor(options: object) {
      noted.options = options
    }
    chat = {
      completions: {
        create: async (asked: object) => {
          noted.asked = asked
          return { choices: [{ message: { content: '{"action":1,"label":null}' } }] }
        },
      },
    }
  }
  const body = `(async () => {${text.replace(/^import .*\n/, '')}})()`
  const context = { OpenAI, JSON, Array, process: { env: { AGENTGYM_TOKEN: 'agt_1' } }, console: { log() {} } }
  await vm.runInNewContext(body, context)
  return noted as Awaited<ReturnType<typeof runNode>>
}

it('ask this server for that version, with the token of the environment', async () => {
  const { options, asked } = await runNode({ type: 'box', shape: [2], low: zeros(2), high: zeros(2) })
  expect({ ...options }).toEqual({ baseURL: 'https://gym.example/v1', apiKey: 'agt_1' })
  expect(asked).toMatchObject({ model: '@acme/solver@1.2.3', messages: [{ role: 'user', content: '[0,0]' }] })
})

it('are whole whatever a stranger calls a part of the observation, and short however large it is', async () => {
  const names = ['"]; process.exit(1); ["', '__proto__', '\n"""', "'", '</script>', '`']
  const space: SpaceDescription = {
    type: 'dict',
    entries: [
      ...names.map((name) => ({ name, space: { type: 'discrete' as const, n: 3, start: 1 } })),
      { name: 'sight', space: { type: 'box', shape: [40, 40], low: zeros(1600), high: zeros(1600) } },
      { name: 'said', space: { type: 'text', maxTokens: 4, vocabulary: 9 } },
    ],
  }
  const { asked } = await runNode(space)
  const observation = JSON.parse(asked.messages[0].content)
  expect(Object.keys(observation)).toEqual([...names, 'sight', 'said'])
  expect(observation.sight).toEqual(Array.from({ length: 1600 }, () => 0))
  for (const { text } of snippetsOf(space)) expect(text.length).toBeLessThan(1_000)
})
