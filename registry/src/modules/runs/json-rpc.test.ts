import { AgentGymError, errorCatalog } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerRpc, type RpcServer, rpcErrorOf } from './json-rpc.ts'

const called: string[] = []
const server: RpcServer = {
  methods: {
    subtract: async ({ minuend, subtrahend }) => Number(minuend) - Number(subtrahend),
    update: async () => {
      called.push('update')
      return null
    },
    refuse: async () => {
      throw new AgentGymError({ code: 'run_not_found', message: 'There is no run.', hint: 'Look.', data: { id: 7 } })
    },
    stumble: async () => {
      throw new Error('a secret of ours')
    },
  },
  fault: () => ({ code: 'internal_error', message: 'Internal server error.' }),
}
/** What the client reads: answers as text, the way they go over the wire. */
const ask = async (text: string | Uint8Array): Promise<string | undefined> => {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const answer = await answerRpc(new Uint8Array(bytes).buffer, server)
  return answer === undefined ? undefined : JSON.stringify(answer)
}
const answerTo = async (text: string): Promise<unknown> => JSON.parse((await ask(text)) ?? 'null')
const failure = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  error: { code, message, data: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }) },
  id,
})

describe("the specification's examples", () => {
  it('named parameters, in any order', async () => {
    expect(
      await answerTo('{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}'),
    ).toEqual({ jsonrpc: '2.0', result: 19, id: 3 })
    expect(
      await answerTo('{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}'),
    ).toEqual({ jsonrpc: '2.0', result: 19, id: 4 })
  })

  it('a notification', async () => {
    called.length = 0
    expect(await ask('{"jsonrpc": "2.0", "method": "update"}')).toBeUndefined()
    expect(called).toEqual(['update'])
    expect(await ask('{"jsonrpc": "2.0", "method": "foobar"}')).toBeUndefined()
    expect(await ask('{"jsonrpc": "2.0", "method": "refuse"}')).toBeUndefined()
  })

  it.each([
    [
      'a method that is not there',
      '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
      -32601,
      'Method not found',
      '1',
    ],
    ['no JSON', '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', -32700, 'Parse error', null],
    ['no request', '{"jsonrpc": "2.0", "method": 1, "params": "bar"}', -32600, 'Invalid Request', null],
    [
      'a batch that is no JSON',
      '[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method"]',
      -32700,
      'Parse error',
      null,
    ],
    ['an empty batch', '[]', -32600, 'Invalid Request', null],
  ])('%s', async (_, text, code, message, id) => {
    expect(await answerTo(text)).toEqual(failure(code, message, id))
  })

  it('batches of invalid requests', async () => {
    const invalid = failure(-32600, 'Invalid Request')
    expect(await answerTo('[1]')).toEqual([invalid])
    expect(await answerTo('[1,2,3]')).toEqual([invalid, invalid, invalid])
  })

  it('a mixed batch, answered in order', async () => {
    const batch = `[
      {"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 7, "subtrahend": 1}, "id": "1"},
      {"jsonrpc": "2.0", "method": "update", "params": [7]},
      {"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": "2"},
      {"foo": "boo"},
      {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
      {"jsonrpc": "2.0", "method": "update", "id": "9"}
    ]`
    expect(await answerTo(batch)).toEqual([
      { jsonrpc: '2.0', result: 6, id: '1' },
      { jsonrpc: '2.0', result: 19, id: '2' },
      failure(-32600, 'Invalid Request'),
      { ...failure(-32601, 'Method not found', '5'), error: expect.objectContaining({ code: -32601 }) },
      { jsonrpc: '2.0', result: null, id: '9' },
    ])
  })

  it('a batch of notifications', async () => {
    expect(
      await ask('[{"jsonrpc": "2.0", "method": "update"}, {"jsonrpc": "2.0", "method": "foobar"}]'),
    ).toBeUndefined()
  })
})

describe('ids', () => {
  it.each(['"a"', '""', '0', '-1', '1.5', '1.0', '1e3', '12345678901234567890', '-0', '1E400', 'null'])(
    '%s is returned unchanged',
    async (id) => {
      expect(await ask(`{"jsonrpc":"2.0","method":"update","id":${id}}`)).toBe(
        `{"jsonrpc":"2.0","result":null,"id":${id}}`,
      )
    },
  )

  it.each(['true', '{}', '[1]'])('%s is invalid', async (id) => {
    expect(await answerTo(`{"jsonrpc":"2.0","method":"update","id":${id}}`)).toEqual(failure(-32600, 'Invalid Request'))
  })

  it('are returned with errors, too', async () => {
    expect(await answerTo('{"jsonrpc":"1.0","method":"update","id":7}')).toEqual(failure(-32600, 'Invalid Request', 7))
    expect(await answerTo('{"method":"update","id":7}')).toEqual(failure(-32600, 'Invalid Request', 7))
    expect(await answerTo('{"jsonrpc":"2.0","id":7}')).toEqual(failure(-32600, 'Invalid Request', 7))
    expect(await answerTo('{"jsonrpc":"2.0","method":"update","params":7,"id":7}')).toEqual(
      failure(-32600, 'Invalid Request', 7),
    )
    expect(await answerTo('{"jsonrpc":"2.0","method":"update","params":null,"id":7}')).toEqual(
      failure(-32600, 'Invalid Request', 7),
    )
  })
})

describe('hostile input', () => {
  it('is refused before it is parsed recursively', async () => {
    const deep = `{"jsonrpc":"2.0","method":"update","id":1,"params":{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}}`
    expect(await answerTo(deep)).toEqual(failure(-32700, 'Parse error'))
    const harmless = `{"jsonrpc":"2.0","method":"update","id":1,"params":{"a":"${'['.repeat(10_000)}\\"${'{'.repeat(10_000)}"}}`
    expect(await answerTo(harmless)).toEqual({ jsonrpc: '2.0', result: null, id: 1 })
    expect(await answerTo('"'.repeat(100_000))).toEqual(failure(-32700, 'Parse error'))
  })

  it('invalid UTF-8 is not JSON; a byte order mark is ignored', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","method":"update","id":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ])
    expect(JSON.parse((await ask(bytes)) ?? '')).toEqual(failure(-32700, 'Parse error'))
    expect(await answerTo('\ufeff{"jsonrpc":"2.0","method":"update","id":1}')).toMatchObject({ result: null })
  })

  it('a batch has at most fifty requests', async () => {
    const batch = (size: number) =>
      JSON.stringify(Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', method: 'update', id })))
    expect(await answerTo(batch(50))).toHaveLength(50)
    expect(await answerTo(batch(51))).toEqual(failure(-32600, 'Invalid Request'))
  })

  it.each(['toString', '__proto__', 'constructor', 'hasOwnProperty', 'rpc.discover', ''])(
    '%j is not a method',
    async (method) => {
      const answer = await answerTo(JSON.stringify({ jsonrpc: '2.0', method, id: 1 }))
      expect(answer).toMatchObject({ error: { code: -32601, data: { hint: expect.stringContaining('subtract') } } })
    },
  )

  it('distinguishes positional params from missing ones', async () => {
    expect(await answerTo('{"jsonrpc":"2.0","method":"update","params":[1],"id":1}')).toEqual(
      failure(-32602, 'Invalid params', 1),
    )
    expect(await answerTo('{"jsonrpc":"2.0","method":"update","params":[],"id":1}')).toMatchObject({ result: null })
  })

  it('a bug reveals nothing', async () => {
    const text = await ask('{"jsonrpc":"2.0","method":"stumble","id":1}')
    expect(JSON.parse(text ?? '')).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(text).not.toContain('secret')
  })

  it('any input is answered as specified', async () => {
    const request = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2),
        method: fc.oneof(fc.constantFrom('update', 'subtract', 'refuse', 'stumble', 'none'), fc.jsonValue()),
        params: fc.jsonValue({ maxDepth: 3 }),
        id: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    )
    const body = fc.oneof(
      request,
      fc.array(fc.oneof(request, fc.jsonValue({ maxDepth: 2 })), { maxLength: 60 }),
      fc.jsonValue(),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          body.map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        async (text) => {
          const answer = await ask(text)
          if (answer === undefined) return
          for (const response of [JSON.parse(answer)].flat()) {
            expect(response.jsonrpc).toBe('2.0')
            expect(Object.keys(response).sort()).toEqual(
              ['id', 'jsonrpc', 'result' in response ? 'result' : 'error'].sort(),
            )
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('errors', () => {
  it('carry our error in their data', async () => {
    expect(await answerTo('{"jsonrpc":"2.0","method":"refuse","id":1}')).toEqual({
      jsonrpc: '2.0',
      error: {
        code: -32004,
        message: 'There is no run.',
        data: { code: 'run_not_found', message: 'There is no run.', hint: 'Look.', data: { id: 7 } },
      },
      id: 1,
    })
  })

  it('of the catalog all have a specified code or one in the server range', () => {
    for (const code of Object.keys(errorCatalog) as (keyof typeof errorCatalog)[]) {
      const { code: number } = rpcErrorOf({ code, message: 'm' })
      const standard = [-32602, -32603].includes(number)
      expect(standard || (number <= -32000 && number >= -32099), code).toBe(true)
    }
    const numberOf = (code: keyof typeof errorCatalog) => rpcErrorOf({ code, message: 'm' }).code
    expect([numberOf('unauthenticated'), numberOf('forbidden'), numberOf('run_not_found')]).toEqual([
      -32001, -32003, -32004,
    ])
    expect([numberOf('version_yanked'), numberOf('rate_limited'), numberOf('name_invalid')]).toEqual([
      -32009, -32029, -32022,
    ])
    expect([numberOf('request_invalid'), numberOf('config_invalid'), numberOf('internal_error')]).toEqual([
      -32602, -32602, -32603,
    ])
    expect(numberOf('request_timeout')).toBe(-32053)
  })
})
