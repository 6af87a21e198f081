import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** The field `agentgym` of a valid scenario. */
export const validManifest = {
  kind: 'scenario',
  entry: 'src/index.ts',
  title: 'Test',
  summary: 'A scenario made for a test.',
  category: 'test',
  difficulty: 'beginner',
}

export const validPackage = { name: '@t/made', version: '1.0.0', agentgym: validManifest }

/** Definition of a small scenario: counts to ten. */
export const countingScenario = `
import { box, defineScenario, discrete } from '@agentgym/scenario'
export default defineScenario({
  observation: box({ shape: [2] }),
  action: discrete({ n: 2 }),
  maxSteps: 20,
  reset: ({ rng }) => ({ count: 0, luck: rng() }),
  step(state: { count: number }, action: number) {
    state.count += action
    return { reward: action, terminated: state.count >= 10 }
  },
  observe: (state: { count: number; luck: number }) => [state.count, state.luck],
})
`

/** Writes files into a new folder, hands it to `body`, and removes it. */
export async function withFolder<Result>(
  files: Record<string, string | object>,
  body: (folder: string) => Result | Promise<Result>,
  parent = tmpdir(),
): Promise<Result> {
  const folder = mkdtempSync(path.join(parent, 'agentgym-test-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(folder, name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    }
    return await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
