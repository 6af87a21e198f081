import type { ServedEnvironment } from '../served-environment.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const answer = (description: string, schema: object = { type: 'object' }) => ({
  '200': { description, ...json(schema) },
})
const object = { type: 'object' }

/** What the routes of an environment take and answer, in OpenAPI 3.1. */
export function openApi({ name, package: { version, agentgym } }: ServedEnvironment, schemas: Schemas) {
  const observation = (schema: object) => ({
    type: 'object',
    properties: {
      observation: schema,
      reward: { type: ['number', 'null'] },
      done: { type: 'boolean' },
      metadata: object,
    },
    required: ['observation', 'reward', 'done'],
  })
  const reset = {
    seed: { type: 'integer', minimum: 0 },
    episode_id: { type: 'string', maxLength: 255 },
    split: { type: 'string', enum: ['train', 'validation', 'test'] },
    index: { type: 'integer', minimum: 0 },
  }
  const step = {
    action: schemas.action,
    episode_id: { type: 'string' },
    timeout_s: { type: 'number', exclusiveMinimum: 0 },
  }
  const split = { split: { type: 'string' } }
  const ofEnvironment = { name: 'env', in: 'path', required: true, schema: { const: name } }
  const post = (summary: string, properties: object, required: string[], schema: object = object) => ({
    post: {
      summary,
      requestBody: json({ type: 'object', properties, required }),
      responses: { ...answer('Done', schema), '422': { description: 'The body is invalid.' } },
    },
  })
  const get = (summary: string, schema: object = object) => ({ get: { summary, responses: answer(summary, schema) } })
  const task = (path: object) => ({ ...path, parameters: [ofEnvironment] })
  return {
    openapi: '3.1.0',
    info: { title: agentgym.title, description: agentgym.summary, version },
    paths: {
      '/reset': post('Begin an episode', reset, [], observation(object)),
      '/step': post('Play one step of the episode', step, ['action'], observation(object)),
      '/state': get('The state of the episode', schemas.state),
      '/schema': get('Schemas of actions, observations and state'),
      '/metadata': get('What the environment is'),
      '/health': get('Whether the server is up'),
      '/mcp': post('JSON-RPC: tools and sessions', { jsonrpc: { const: '2.0' }, method: { type: 'string' } }, [
        'jsonrpc',
        'method',
      ]),
      '/list_environments': get('Names of environments', { type: 'array', items: { type: 'string' } }),
      '/{env}/splits': task(get('Splits of tasks', { type: 'array', items: object })),
      '/{env}/tasks': task(post('Tasks of a split', split, ['split'])),
      '/{env}/num_tasks': task(post('How many tasks a split has', split, ['split'])),
      '/{env}/task': task(post('A task', { ...split, index: { type: 'integer' } }, ['split', 'index'])),
      '/{env}/task_range': task(
        post('Tasks from start to stop', { ...split, start: { type: 'integer' }, stop: { type: 'integer' } }, [
          'split',
        ]),
      ),
    },
  }
}

type Schemas = { action: object; state: object }
