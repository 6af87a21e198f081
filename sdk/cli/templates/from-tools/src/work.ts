/** One episode: a request, the calls that were made for it, and what counts as right. */
import type { ParameterRecord, Rng, ToolCall, ToolResult } from '@agentgym/scenario'
import type { Result } from './back-end.ts'
import { type Item, openRecords, type Records } from './records.ts'
import { type Request, writeRequest } from './requests.ts'
import { type ListName, lookups, parameters, readOnly, shownAtStart, type ToolName } from './tools.ts'

/** A number this near to the wanted one, as a share of its range, is right. */
const TOLERANCE = 0.1

export type Work = {
  request: Request
  records: Records
  /** Lists that the agent sees. */
  shown: ListName[]
  called: ToolName[]
  solved: boolean
}

export function openWork(rng: Rng): Work {
  const records = openRecords(rng)
  return { request: writeRequest(records, rng), records, shown: [...shownAtStart], called: [], solved: false }
}

/**
 * Judges a call after the back end has answered it. The tool that the request asks for ends the episode, and each right argument
 * pays a share; a lookup is right if it shows a list that is needed and not shown yet. REPLACE: if a request takes several calls,
 * keep in the work what is left to do.
 */
export function judge(work: Work, tool: ToolName, args: Readonly<Record<string, unknown>>, result: Result): ToolResult {
  work.called.push(tool)
  // A call that failed has changed nothing, and can be made again.
  if (result.failed) return {}
  const news = (result.shows ?? []).filter((list) => !work.shown.includes(list))
  if (tool === work.request.tool) {
    const scores = scoreArguments(tool, args, work.request.arguments)
    work.solved = scores.every(({ right }) => right)
    const reward = scores.length === 0 ? 1 : scores.reduce((sum, { score }) => sum + score, 0) / scores.length
    return { right: true, reward, done: true }
  }
  const needed = missingLists(work)
  work.shown.push(...news)
  return { right: news.some((list) => needed.includes(list)), done: !readOnly.includes(tool) }
}

type Score = { right: boolean; score: number }

function scoreArguments(
  tool: ToolName,
  args: Readonly<Record<string, unknown>>,
  wanted: Request['arguments'],
): Score[] {
  return Object.entries<ParameterRecord[string]>(parameters[tool]).map(([name, parameter]) => {
    if (parameter.type !== 'number') {
      const right = args[name] === wanted[name]
      return { right, score: right ? 1 : 0 }
    }
    const off = Math.abs(Number(args[name]) - Number(wanted[name])) / (parameter.high - parameter.low)
    // Steeper where it is nearly right.
    return { right: off <= TOLERANCE, score: 0.5 * (1 - off) + 0.5 * Math.max(0, 1 - off / (2 * TOLERANCE)) }
  })
}

/** The items of a list as the agent sees them: nothing before the list is shown. The feature: whether the request names it. */
export function shownItems({ request, records, shown }: Work, list: ListName): { id: string; features: number[] }[] {
  if (!shown.includes(list)) return []
  return records[list].map(({ id, name }: Item) => ({ id, features: [request.text.includes(name) ? 1 : 0] }))
}

/** Lists that the request needs, those that lookups on the way need, and that are not shown yet. */
function missingLists({ request, shown }: Work): ListName[] {
  const missing: ListName[] = []
  const add = (tool: ToolName) => {
    for (const list of listsOf(tool)) {
      if (shown.includes(list) || missing.includes(list)) continue
      missing.push(list)
      const lookup = lookups[list]
      if (lookup !== undefined) add(lookup)
    }
  }
  add(request.tool)
  return missing
}

/** The call that a player who knows the request makes: lookups first, then the tool itself. */
export function nextCall(work: Work): ToolCall<ToolName> {
  const { request, records, shown } = work
  const ready = (tool: ToolName) => listsOf(tool).every((list) => shown.includes(list))
  if (ready(request.tool)) return { tool: request.tool, arguments: request.arguments }
  for (const list of missingLists(work)) {
    const lookup = lookups[list]
    if (lookup !== undefined && ready(lookup)) return { tool: lookup, arguments: someArguments(lookup, records) }
  }
  throw new Error(`nothing shows the lists that ${request.tool} needs`)
}

function someArguments(tool: ToolName, records: Records): Record<string, unknown> {
  const args: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries<ParameterRecord[string]>(parameters[tool])) {
    if (parameter.type === 'choice') args[name] = parameter.values[0]
    if (parameter.type === 'number') args[name] = parameter.low
    if (parameter.type === 'pointer') args[name] = records[parameter.list as ListName][0].id
  }
  return args
}

function listsOf(tool: ToolName): ListName[] {
  const pointers = Object.values<ParameterRecord[string]>(parameters[tool])
  return pointers.flatMap((parameter) => (parameter.type === 'pointer' ? [parameter.list as ListName] : []))
}
