import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { supportEpisodes, supportFormats } from '../../test/logged-support.ts'
import { assembleEpisodes, noCounts } from './assemble-episodes.ts'
import { jsonValues } from './json-values.ts'
import type { LoggedEpisode } from './logged-episode.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-traces-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function read(text: string): Promise<{ episodes: LoggedEpisode[]; counts: ReturnType<typeof noCounts> }> {
  const path = join(folder, 'log.json')
  writeFileSync(path, text)
  const counts = noCounts()
  return { episodes: await Array.fromAsync(assembleEpisodes(jsonValues(path), counts)), counts }
}

const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join('\n')

describe.each(Object.keys(supportFormats) as (keyof typeof supportFormats)[])('traces as %s', (format) => {
  it('give the episodes that were played', async () => {
    const played = supportEpisodes(200)
    const { episodes, counts } = await read(supportFormats[format](played))
    expect(counts).toMatchObject({ unknown: 0, withoutRequest: 0, formats: { [format]: 200 } })
    expect(episodes).toHaveLength(200)
    for (const [i, { request, calls, solved, probabilities }] of played.entries()) {
      const episode = episodes[i]
      expect(episode).toMatchObject({ request, answered: true, answerTokens: 60, outcomes: { solved: Number(solved) } })
      expect(
        episode.calls.map(({ tool, arguments: args, failed }) => ({ name: tool, arguments: args, failed })),
      ).toEqual(calls.map(({ name, arguments: args, failed }) => ({ name, arguments: args, failed })))
      expect(episode.calls.map(({ result }) => result)).toEqual(calls.map(({ result }) => result))
      expect(episode.calls.every(({ tokens, seconds }) => tokens === 100 && seconds === 0.5)).toBe(true)
      expect([...episode.calls.map(({ probability }) => probability), episode.answerProbability]).toEqual(probabilities)
    }
  })
})

describe('details', () => {
  it('function calls of old, and content in parts', async () => {
    const { episodes } = await read(
      lines({
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
          { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"a":1}' } },
          { role: 'function', name: 'look', content: 'found' },
          { role: 'user', content: 'And now?' },
        ],
      }),
    )
    expect(episodes).toMatchObject([
      { request: 'Hello', followUps: 1, answered: false, calls: [{ tool: 'look', arguments: { a: 1 } }] },
    ])
  })

  it('blocks of Anthropic and the AI SDK', async () => {
    const { episodes } = await read(
      lines(
        {
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'no', is_error: true }] },
          ],
        },
        {
          messages: [
            { role: 'user', content: 'Hi' },
            {
              role: 'assistant',
              content: [{ type: 'tool-call', toolCallId: 't1', toolName: 'look', input: { a: 1 } }],
            },
            { role: 'tool', content: [{ type: 'tool-result', toolCallId: 't1', toolName: 'look', output: 'yes' }] },
          ],
        },
      ),
    )
    expect(episodes).toMatchObject([
      { calls: [{ tool: 'look', arguments: { a: 1 }, result: 'no', failed: true }] },
      { calls: [{ tool: 'look', arguments: { a: 1 }, result: 'yes', failed: false }] },
    ])
  })

  it('tokens and seconds of a whole conversation are shared by its turns', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{}' } }] },
      { role: 'assistant', content: 'Done' },
    ]
    const { episodes } = await read(
      lines({ messages, usage: { prompt_tokens: 80, completion_tokens: 20 }, latency: 3 }),
    )
    expect(episodes).toMatchObject([{ calls: [{ tokens: 50, seconds: 1.5 }], answerTokens: 50, answerSeconds: 1.5 }])
  })

  it("a trace of Langfuse's API with its observations and scores inside", async () => {
    const { episodes } = await read(
      JSON.stringify({
        id: 't1',
        input: 'Where is my order?',
        scores: [{ name: 'helpful', value: 0.9, dataType: 'NUMERIC' }],
        observations: [
          {
            id: 'o1',
            traceId: 't1',
            type: 'TOOL',
            name: 'look',
            startTime: '2026-01-01T00:00:00Z',
            latency: 0.2,
            input: { id: 7 },
            output: 'gone',
          },
        ],
      }),
    )
    expect(episodes).toMatchObject([
      {
        request: 'Where is my order?',
        outcomes: { helpful: 0.9 },
        calls: [{ tool: 'look', arguments: { id: 7 }, result: 'gone', seconds: 0.2 }],
      },
    ])
  })

  it('values of no known format, and traces without a request, are counted', async () => {
    const { episodes, counts } = await read(lines({ a: 1 }, { run_type: 'tool', id: 'x', name: 'look', inputs: {} }))
    expect(episodes).toEqual([])
    expect(counts).toMatchObject({ values: 2, unknown: 1, withoutRequest: 1 })
  })

  it('names that are no plain words stay data', async () => {
    const { episodes } = await read(
      '{"messages":[{"role":"user","content":"Hi"}],"__proto__":{"solved":true},"constructor":1,"solved":"yes"}',
    )
    expect(episodes[0].outcomes).toMatchObject({ solved: 1, constructor: 1 })
    expect(({} as { solved?: boolean }).solved).toBeUndefined()
  })
})
