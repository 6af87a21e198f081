import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  callEncoder,
  encoderFile,
  encoderFolder,
  encoderSources,
  loadSession,
  obtainEncoder,
  obtainEncoders,
  readAgentWithModel,
  rowSize,
  TextVectors,
  tensor,
} from '@agentgym/agent/engine'
import { exampleObservation, type PolicySpec, spaceLeaves } from '@agentgym/contract'
import { policyInputs, policyOutputs } from '@agentgym/contract/model'
import { build } from 'esbuild'
import type { DeployedAgent } from './deployment-folder.ts'
import { type OnnxExample, onnxReadme } from './onnx-readme.ts'
import { replaceFolder } from './replace-folder.ts'

/**
 * Writes an agent for other runtimes of ONNX: the model, what feeds it (tokenizer or sentence encoder), a README of its inputs
 * and outputs, one worked example, and programs in Python and Node that check the model against it.
 */
export async function writeOnnxFolder(folder: string, agent: DeployedAgent): Promise<OnnxExample> {
  return await replaceFolder(folder, 'model.onnx', async (unfinished) => {
    const example = await workedExample(agent)
    await copyPackage(agent.folder, unfinished)
    await writeTextFiles(unfinished, agent.manifest.policy)
    await writeFile(join(unfinished, 'example.json'), `${JSON.stringify(example, null, 1)}\n`)
    await writeFile(join(unfinished, 'sample.py'), pythonSample)
    await writeFile(join(unfinished, 'sample.mjs'), nodeSample)
    await writeFile(join(unfinished, 'README.md'), onnxReadme(agent, example))
    return example
  })
}

async function copyPackage(from: string, to: string): Promise<void> {
  const kept = (await readdir(from)).filter((name) => /^(agent\.json|model\.onnx|licen[sc]e.*)$/i.test(name))
  for (const file of kept) await copyFile(join(from, file), join(to, file))
}

/** The first observation that fits the spaces, through the encoders of the agent library and the model itself. */
async function workedExample({ folder, agent, manifest }: DeployedAgent): Promise<OnnxExample> {
  const { policy, scenario } = manifest
  const observation = exampleObservation(spaceLeaves(scenario.observation), null)
  const { checkedModel } = await readAgentWithModel(folder)
  const row = new Float32Array(rowSize(policy))
  const masks = policy.action.reduce((sum, { counts }) => sum + counts.reduce((a, b) => a + b, 0), 0)
  const encode = callEncoder(scenario, new TextVectors(await obtainEncoders(policy, obtainEncoder)))
  encode({ observation, action_mask: null }, row, new Uint8Array(masks))
  const leaf = new Map(policy.observation.map(({ name, offset, size }) => [name, row.slice(offset, offset + size)]))
  const feeds = [...policyInputs(policy)].map(([name, [size]]) => [name, tensor([1, size], leaf.get(name))] as const)
  const fetches = [...policyOutputs(policy)].map(([name, size]) => [name, tensor([1, ...size])] as const)
  const session = loadSession(checkedModel, 'cpu')
  session.run(Object.fromEntries(feeds), Object.fromEntries(fetches))
  session.dispose()
  const { action, label } = agent.act(observation, { mask: null })
  return {
    observation,
    inputs: Object.fromEntries(feeds.map(([name, { data }]) => [name, [Array.from(data)]])),
    outputs: Object.fromEntries(
      fetches.map(([name, { dims, data }]) => [name, dims.length === 1 ? Array.from(data) : [Array.from(data)]]),
    ),
    action,
    label,
  }
}

/** What turns texts into inputs: our hashing tokenizer as a module, and the files of a sentence encoder. */
async function writeTextFiles(folder: string, { observation }: PolicySpec): Promise<void> {
  if (observation.some(({ kind }) => kind === 'text')) {
    await build({
      stdin: { contents: "export { tokenize } from '@agentgym/scenario'", resolveDir: import.meta.dirname },
      outfile: join(folder, 'tokenizer.mjs'),
      ...{ bundle: true, format: 'esm', platform: 'neutral', charset: 'utf8', logLevel: 'silent', tsconfigRaw: '{}' },
    })
  }
  const encoders = new Set(observation.flatMap(({ encoder }) => (encoder === undefined ? [] : [encoder.name])))
  const sources = dirname(fileURLToPath(import.meta.resolve('@agentgym/agent/deployed')))
  for (const name of encoders) {
    await obtainEncoder(name)
    const { vocabularyFile } = encoderSources[name]
    await copyFile(encoderFile(name, encoderFolder()), join(folder, `${name}.onnx`))
    await writeFile(join(folder, basename(vocabularyFile)), await readFile(join(sources, '../texts', vocabularyFile)))
  }
}

const pythonSample = `# Runs model.onnx on the worked example and compares: python3 sample.py (pip install onnxruntime numpy)
import json
from pathlib import Path

import numpy as np
import onnxruntime

folder = Path(__file__).parent
example = json.loads((folder / "example.json").read_text())
session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
inputs = {name: np.array(rows, dtype=np.float32) for name, rows in example["inputs"].items()}
for output, values in zip(session.get_outputs(), session.run(None, inputs)):
    expected = np.array(example["outputs"][output.name], dtype=np.float32)
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)
    print(output.name, values.tolist())
print("The outputs are those of example.json; its action is", example["action"])
`

const nodeSample = `// Runs model.onnx on the worked example and compares: node sample.mjs (npm install onnxruntime-node)
import { readFileSync } from 'node:fs'
import { InferenceSession, Tensor } from 'onnxruntime-node'

const read = (name) => readFileSync(new URL(name, import.meta.url))
const example = JSON.parse(read('example.json'))
const session = await InferenceSession.create(read('model.onnx'))
const inputs = Object.entries(example.inputs).map(([name, [row]]) => [
  name,
  new Tensor('float32', Float32Array.from(row), [1, row.length]),
])
for (const [name, { data }] of Object.entries(await session.run(Object.fromEntries(inputs)))) {
  const expected = example.outputs[name].flat()
  if (expected.some((value, i) => Math.abs(value - data[i]) > 1e-5 + 1e-4 * Math.abs(value)))
    throw new Error(\`\${name} is \${data} instead of \${expected}\`)
  console.log(name, Array.from(data))
}
console.log('The outputs are those of example.json; its action is', JSON.stringify(example.action))
`
