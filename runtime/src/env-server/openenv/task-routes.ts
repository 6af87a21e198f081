import { AgentGymError } from '@agentgym/contract'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { readRequest } from '../read-request.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import { splitsOf, tasksIn } from '../task-splits.ts'

/** Tasks that one answer may name; a split may have a thousand million. */
const MOST_TASKS = 10_000

const ofSplit = z.strictObject({ split: z.string() })
const ofTask = z.strictObject({ split: z.string(), index: z.int() })
const ofRange = z.strictObject({ split: z.string(), start: z.int().nullish(), stop: z.int().nullish() })

/** OpenEnv's task API, shaped as ORS: a task is what `reset` takes, `{split, index}`. */
export function addTaskRoutes(app: Hono, { name, description }: ServedEnvironment): void {
  const count = (split: string) => asTask(() => tasksIn(description, split))
  const named = (c: Context) => {
    const given = c.req.param('env') ?? ''
    if (given.toLowerCase() === name.toLowerCase()) return
    throw new AgentGymError({
      code: 'endpoint_not_found',
      message: `unknown environment ${JSON.stringify(given.slice(0, 80))}; this is ${name}`,
    })
  }
  app.get('/list_environments', (c) => c.json([name]))
  app.get('/:env/splits', (c) => {
    named(c)
    return c.json(splitsOf(description).map((split) => ({ name: split, type: split })))
  })
  app.post('/:env/num_tasks', async (c) => {
    named(c)
    const { split } = await readRequest(c, ofSplit)
    return c.json({ num_tasks: count(split) })
  })
  app.post('/:env/tasks', async (c) => {
    named(c)
    const { split } = await readRequest(c, ofSplit)
    return c.json({ tasks: taskRange(split, 0, count(split)), env_name: name })
  })
  app.post('/:env/task', async (c) => {
    named(c)
    const { split, index } = await readRequest(c, ofTask)
    const tasks = count(split)
    if (index < 0 || index >= tasks) throw noTask(`Invalid task index: ${split} has the tasks 0 to ${tasks - 1}.`)
    return c.json({ task: { split, index } })
  })
  app.post('/:env/task_range', async (c) => {
    named(c)
    const { split, start, stop } = await readRequest(c, ofRange)
    const tasks = count(split)
    return c.json({ tasks: taskRange(split, fromEnd(start ?? 0, tasks), fromEnd(stop ?? tasks, tasks)) })
  })
}

/** As Python slices: negative numbers count from the end, and what lies outside is left out. */
function fromEnd(index: number, count: number): number {
  return Math.max(0, Math.min(count, index < 0 ? count + index : index))
}

function taskRange(split: string, start: number, stop: number): { split: string; index: number }[] {
  const length = Math.max(0, stop - start)
  if (length > MOST_TASKS) {
    throw noTask(
      `${length} tasks are too many for one answer; ask task_range for at most ${MOST_TASKS}. Any index up to num_tasks is valid in reset.`,
    )
  }
  return Array.from({ length }, (_, i) => ({ split, index: start + i }))
}

/** OpenEnv answers 400 for a task that does not exist. */
function noTask(message: string): AgentGymError {
  return new AgentGymError({ code: 'usage_invalid', message })
}

function asTask<Result>(look: () => Result): Result {
  try {
    return look()
  } catch (error) {
    throw error instanceof AgentGymError ? noTask(error.message) : error
  }
}
