import { type EncoderSet, obtainEncoder } from '@agentgym/agent/engine'

/** The files of every encoder: what the set-up keeps, or downloaded by the first test that needs it. */
export async function testEncoders(): Promise<EncoderSet> {
  return { minilm: await obtainEncoder('minilm') }
}
