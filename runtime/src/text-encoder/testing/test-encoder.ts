import { obtainEncoder } from '../obtain-encoder.ts'
import type { EncoderSet } from '../text-vectors.ts'

/** The files of every encoder: what the set-up keeps, or downloaded by the first test that needs it. */
export async function testEncoders(): Promise<EncoderSet> {
  return { minilm: await obtainEncoder('minilm') }
}
