import { commentText, key, literal, markdownText, wordList } from './identifiers.ts'
import { needsOf, type PlannedList, type PlannedTool, type ToolPlan } from './plan-tools.ts'
import type { PlannedParameter } from './schema-parameters.ts'
import { requestsFile } from './write-requests.ts'

export type ScenarioNames = { name: string; title: string; unscoped: string }

/** The written files by path; the others of the folder come from the template as they are. */
export function scenarioFiles(plan: ToolPlan, names: ScenarioNames): Record<string, string> {
  return {
    'package.json': manifestFile(plan, names),
    'README.md': readmeFile(plan, names),
    'src/index.ts': indexFile(plan),
    'src/tools.ts': toolsFile(plan),
    'src/back-end.ts': backEndFile(plan),
    'src/requests.ts': requestsFile(plan.tools),
  }
}

function manifestFile({ tools, lists }: ToolPlan, { name, title }: ScenarioNames): string {
  const lookups = tools.filter(({ readOnly }) => readOnly)
  const facts = lookups.slice(0, 64).map((tool) => `${tool.name.slice(0, 33)} called`)
  const shown = lists.slice(0, 8).map((list) => ({ name: list.name, features: ['named in the request'] }))
  const manifest = {
    name,
    version: '0.1.0',
    license: 'MIT',
    type: 'module',
    files: ['src', '!src/**/*.test.ts', 'README.md'],
    scripts: { test: 'vitest run' },
    devDependencies: { '@agentgym/scenario': 'file:vendor/scenario', typescript: '7.0.2', vitest: '5.1.2' },
    agentgym: {
      kind: 'scenario',
      entry: 'src/index.ts',
      title,
      summary: '[REPLACE: what the agent handles, in one sentence]',
      category: 'tool-use',
      difficulty: 'intermediate',
      view: {
        kind: 'transcript',
        ...(facts.length > 0 ? { facts } : {}),
        ...(shown.length > 0 ? { lists: shown } : {}),
      },
      success: { solved: 0.9 },
      training: {
        ...{ algorithm: 'ppo', steps: 200_000, environments: 64, rollout_steps: 32, minibatch_size: 256, epochs: 4 },
        ...{ learning_rate: 0.003, gamma: 1, gae_lambda: 0.9, entropy_coefficient: 0.01, hidden: [64, 64] },
      },
    },
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function toolsFile({ tools, lists }: ToolPlan): string {
  const kinds = new Set(tools.flatMap(({ parameters }) => parameters.map(({ kind }) => kind)))
  const imports = ['choice', 'number', 'pointer'].filter((kind) => kinds.has(kind as PlannedParameter['kind']))
  const lookups = lists.flatMap(({ name, shownAtStart }) => {
    const tool = shownAtStart ? undefined : tools.find(({ shows }) => shows.includes(name))
    return tool === undefined ? [] : [`  ${key(name)}: ${literal(tool.name)},`]
  })
  return `/** What the agent chooses for each tool, and which records it copies ids from. */
${imports.length > 0 ? `import { ${imports.join(', ')} } from '@agentgym/scenario'\n\n` : ''}export const parameters = {
${tools.map((tool) => parameterLines(tool, lists)).join('\n')}
}
export type ToolName = keyof typeof parameters

/** Lists of records, and what one record of each is. */
export const entities = {${block(lists.map(({ name, entity }) => `  ${key(name)}: ${literal(entity)},`))}}
export type ListName = keyof typeof entities

/** Lists that the agent sees from the start. */
export const shownAtStart: readonly ListName[] = [${namesOf(lists.filter(({ shownAtStart }) => shownAtStart))}]
/** The tool that shows a list. */
export const lookups: { readonly [Name in ListName]?: ToolName } = {${block(lookups)}}
/** Tools that change nothing: a wrong call of one costs, and the episode goes on. */
export const readOnly: readonly ToolName[] = [${namesOf(tools.filter(({ readOnly }) => readOnly))}]
`
}

const namesOf = (named: readonly { name: string }[]) => named.map(({ name }) => literal(name)).join(', ')
const block = (lines: readonly string[]) => (lines.length === 0 ? '' : `\n${lines.join('\n')}\n`)

function parameterLines({ name, parameters, written }: PlannedTool, lists: readonly PlannedList[]): string {
  const comments = written.map(
    ({ field, why }) => `    // ${commentText(field, 60)}: not chosen here (${commentText(why)}).`,
  )
  const lines = parameters.map((parameter) => `    ${key(parameter.name)}: ${parameterCode(parameter, lists)},`)
  return `  ${key(name)}: {${[...comments, ...lines].length === 0 ? '' : `\n${[...lines, ...comments].join('\n')}\n  `}},`
}

function parameterCode(parameter: PlannedParameter, lists: readonly PlannedList[]): string {
  switch (parameter.kind) {
    case 'choice':
      return `choice(${wordList(parameter.values, '    ', parameter.name.length + 15)})`
    case 'number':
      return `number({ low: ${parameter.low}, high: ${parameter.high}${parameter.integer ? ', integer: true' : ''} })`
    case 'pointer':
      return `pointer(${literal(lists.find(({ entity }) => entity === parameter.entity)?.name ?? '')})`
  }
}

function backEndFile({ tools }: ToolPlan): string {
  const typed = tools.some(({ parameters }) => parameters.length > 0)
  return `/**
 * What the tools do, simulated: one function each, with the arguments that the agent chose. As written, a lookup shows its records,
 * and every other call succeeds.
 */
${typed ? "import type { ArgumentsOf } from '@agentgym/scenario'\n" : ''}import type { Records } from './records.ts'
import type { ListName${typed ? ', parameters' : ''} } from './tools.ts'

/** What a call did. \`shows\`: lists that the agent sees from then on. \`failed\`: nothing happened, and it can be made again. */
export type Result = { shows?: readonly ListName[]; failed?: boolean }
${typed ? 'type Arguments<Name extends keyof typeof parameters> = ArgumentsOf<(typeof parameters)[Name]>\n' : ''}
export const backEnd = {
${tools.map(backEndFunction).join('\n\n')}
}
`
}

function backEndFunction({ name, parameters, shows, description }: PlannedTool): string {
  const args = parameters.length > 0 ? `, _args: Arguments<${literal(name)}>` : ''
  const result = shows.length > 0 ? `{ shows: [${shows.map(literal).join(', ')}] }` : '{}'
  return `  /** ${commentText(description)} */
  ${key(name)}(_records: Records${args}): Result {
    // REPLACE: change the records, fail where the real tool would.
    return ${result}
  },`
}

function indexFile({ tools, lists, longestRequest }: ToolPlan): string {
  const numbers = tools.some(({ parameters }) => parameters.some(({ kind }) => kind === 'number'))
  const lookups = tools.filter(({ readOnly }) => readOnly).length
  const imports = [
    ...(numbers || lookups > 0 ? ['box'] : []),
    ...['defineToolScenario', 'dict', ...(lists.length > 0 ? ['list'] : []), 'taskRng', 'text', 'tool'],
  ]
  const spaces = [
    ...(lookups > 0
      ? [
          '    /** For each tool that changes nothing, whether it has been called. */',
          `    called: box({ shape: [${lookups}], low: 0, high: 1 }),`,
        ]
      : []),
    ...lists.map(({ name }) => `    ${key(name)}: list({ slots: SLOTS, features: 1 }),`),
    ...(numbers
      ? [
          '    /** Numbers that the request names, from 0 to 1 within their ranges; -1 where it names none. */',
          '    numbers: box({ shape: [numberColumns.length], low: -1, high: 1 }),',
        ]
      : []),
  ]
  const samples = [
    ...(lookups > 0 ? ['      called: readOnly.map((name) => (work.called.includes(name) ? 1 : 0)),'] : []),
    ...lists.map(({ name }) => `      ${key(name)}: shownItems(work, ${literal(name)}),`),
    ...(numbers ? ['      numbers: namedNumbers(work.request),'] : []),
  ]
  const some = tools.some(({ parameters }) => parameters.length > 0)
  const toolImports = [...(some ? ['parameters'] : []), ...(lookups > 0 ? ['readOnly'] : [])]
  const lines = (more: string[]) => more.map((line) => `\n${line}`).join('')
  return `/**
 * Read a request and call the right tool, with the right arguments. Made from the tools of an agent: replace the requests
 * (requests.ts), what the tools do (back-end.ts) and what counts as right (work.ts) by your own.
 */
import { ${imports.join(', ')} } from '@agentgym/scenario'
import { backEnd } from './back-end.ts'
${lists.length > 0 ? "import { SLOTS } from './records.ts'\n" : ''}${numbers ? "import { namedNumbers, numberColumns } from './requests.ts'\n" : ''}${toolImports.length > 0 ? `import { ${toolImports.join(', ')} } from './tools.ts'\n` : ''}import { judge, nextCall, openWork,${lists.length > 0 ? ' shownItems,' : ''} type Work } from './work.ts'

const TRAIN_REQUESTS = 10_000
const HELD_OUT_REQUESTS = 1_000_000_000

export default defineToolScenario({
  observation: dict({
    request: text({ maxTokens: 32, vocabulary: 1024 }),${lines(spaces)}
  }),
  maxSteps: ${longestRequest + 2},
  tasks: { train: TRAIN_REQUESTS, eval: HELD_OUT_REQUESTS },
  rewards: { right: 0.1, wrong: -0.2, tokenSaving: 0.1 },
  // REPLACE: what a request costs today, the base of cost_reduction and time_savings.
  baselines: { tokens: ${1000 * longestRequest}, seconds: ${10 * longestRequest} },

  start({ task }): Work {
    return openWork(taskRng(task, TRAIN_REQUESTS))
  },

  // REPLACE: the cost of a call in tokens and seconds, as measured.
  tools: {
${tools.map(toolEntry).join('\n')}
  },

  observe(work) {
    return {
      request: work.request.text,${lines(samples)}
    }
  },

  // The reward of the whole episode. Positive means solved.
  outcome: (work) => (work.solved ? 1 : -1),

  // A scripted player that knows the request: it shows that the scenario can be solved. Agents never see it.
  oracle: nextCall,
})
`
}

function toolEntry({ name, description, parameters, readOnly }: PlannedTool): string {
  const property = /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${literal(name)}]`
  const some = parameters.length > 0
  const run = some
    ? `run: (work: Work, args) => judge(work, ${literal(name)}, args, backEnd${property}(work.records, args)),`
    : `run: (work: Work) => judge(work, ${literal(name)}, {}, backEnd${property}(work.records)),`
  const lines = [
    `description: ${literal(description)},`,
    ...(some ? [`parameters: parameters${property},`] : []),
    `cost: { tokens: ${readOnly ? 100 : 200}, seconds: ${readOnly ? 1 : 2} },`,
    run,
  ]
  return `    ${key(name)}: tool({\n${lines.map((line) => `      ${line}`).join('\n')}\n    }),`
}

function readmeFile(plan: ToolPlan, { title, unscoped }: ScenarioNames): string {
  const { tools, lists } = plan
  const rows = tools.map((tool) => {
    const chosen = tool.parameters.map(
      ({ field, kind }) => `${markdownText(field, 60)} (${kind === 'pointer' ? 'id' : kind})`,
    )
    const needs = needsOf(tool, lists).filter((name) => !lists.find((list) => list.name === name)?.shownAtStart)
    return `| ${markdownText(tool.name)} | ${markdownText(tool.description, 120)} | ${chosen.join(', ')} | ${needs.map((name) => markdownText(name)).join(', ')} |`
  })
  const notes = tools.flatMap((tool) => fieldNotes(tool))
  return `# ${markdownText(title, 80)}

[REPLACE: say what the agent learns here, and what makes it hard. The rest of this page describes the scenario as written]

Read a request and call the right tool, with the right arguments.

\`\`\`sh
agentgym scenario test .
agentgym scenario check .
agentgym train .
agentgym eval agents/${unscoped}
\`\`\`

## Make it yours

Each place to edit has the word \`REPLACE\`.

| To change | Edit |
|---|---|
| what users ask for | \`src/requests.ts\` |
| what the tools do, and when they fail | \`src/back-end.ts\` |
| the records that ids are copied from | \`src/records.ts\` |
| what counts as right, requests that take several calls | \`src/work.ts\` |
| costs, what the agent observes, rewards | \`src/index.ts\` |

## Tools

| Tool | Description | The agent chooses | Needs |
|---|---|---|---|
${rows.join('\n')}

A tool that needs a list can be called once another tool has shown it.
${notes.length === 0 ? '' : `\n## Fields\n\n| Tool | Field | How it is read |\n|---|---|---|\n${notes.join('\n')}\n`}
## Reward and end

Up to 1 for the tool that the request asks for, by its right arguments, then +1 if all are right, else -1; +0.1 for a lookup that is
needed, -0.2 for a wrong call; up to 0.1 for saved tokens. A number is right within a tenth of its range. An episode ends with a call
that changes something, or after ${plan.longestRequest + 2} calls.

**Success**: over the held-out episodes \`solved\` reaches 0.9.
`
}

function fieldNotes({ name, declared, written, changed }: PlannedTool): string[] {
  const row = (field: string, how: string) =>
    `| ${markdownText(name)} | ${markdownText(field, 60)} | ${markdownText(how)} |`
  return [
    ...(declared === name ? [] : [row('', `the tool is called ${JSON.stringify(declared)} in the agent`)]),
    ...written.map(({ field, why }) => row(field, `not chosen by the policy, a language model writes it: ${why}`)),
    ...changed.map(({ field, why }) => row(field, why)),
  ]
}
