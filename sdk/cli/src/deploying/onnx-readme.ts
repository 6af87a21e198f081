import {
  type ActionLeaf,
  escapeMarkdown,
  type JsonObservation,
  type ObservationLeaf,
  type PolicySpec,
  type SpaceDescription,
} from '@agentgym/contract'
import { actionOutputNames, STATE_INPUT, STATE_OUTPUT, stateSize } from '@agentgym/contract/model'
import type { DeployedAgent } from './deployment-folder.ts'

/** One batch of one row, as the model takes and gives it. */
export type OnnxExample = {
  observation: JsonObservation
  inputs: Record<string, number[][]>
  outputs: Record<string, number[] | number[][]>
  /** What the agent does upon it. */
  action: unknown
  label: string | null
}

/** README.md of an exported agent: what goes into the model, what comes out, and how an action is made of it. */
export function onnxReadme({ name, version, manifest }: DeployedAgent, example: OnnxExample): string {
  const { policy, scenario } = manifest
  const title = version === null ? name : `${name}@${version}`
  const rows = policy.observation.map((leaf) => `| \`${leaf.name}\` | [batch, ${leaf.size}] | ${inputMeaning(leaf)} |`)
  const state = `[batch, ${stateSize(policy)}]`
  const memory = policy.memory !== undefined
  return [
    `# ${escapeMarkdown(title)} for ONNX runtimes`,
    '',
    `A policy trained on \`${scenario.name}@${scenario.version}\`. \`model.onnx\` runs in any runtime of ONNX (operator set 17 or later), in batches of any size. Normalization of observations is part of it.`,
    '',
    '## Inputs',
    '',
    'All are float32, integers and token ids too.',
    '',
    '| input | shape | what it is |',
    '| --- | --- | --- |',
    ...rows,
    ...(memory
      ? [
          `| \`${STATE_INPUT}\` | ${state} | what the agent remembers: zeros where an episode begins, else the \`${STATE_OUTPUT}\` of the step before |`,
        ]
      : []),
    ...textNotes(policy),
    '',
    '## Outputs',
    '',
    '| output | shape | what it is |',
    '| --- | --- | --- |',
    ...policy.action.flatMap((leaf) => outputRows(leaf, policy)),
    ...(memory ? [`| \`${STATE_OUTPUT}\` | ${state} | the \`${STATE_INPUT}\` of the next step |`] : []),
    '| `value` | [batch] | the expected return, as the policy sees it |',
    '',
    '## The action',
    '',
    'An output that is largest is looked for among the choices that are legal now.',
    '',
    ...policy.action.flatMap((leaf) => actionNotes(leaf, policy)),
    ...choiceNames(scenario.action),
    '',
    'These are the likeliest actions, as in the evaluation of the agent. To sample choices, take the softmax over the legal ones.',
    '',
    '## Example',
    '',
    '`example.json` has one observation, the inputs it becomes, the outputs, and the action. `sample.py` and `sample.mjs` run the',
    'model and compare. The observation',
    '',
    '```json',
    JSON.stringify(example.observation),
    '```',
    '',
    `is answered with \`${JSON.stringify(example.action)}\`${example.label === null ? '' : `, which is "${escapeMarkdown(example.label)}"`}.`,
    '',
    'The agent library does all of this: `@agentgym/agent` for Node, `agentgym` for Python.',
    '',
  ].join('\n')
}

function inputMeaning(leaf: ObservationLeaf): string {
  if (leaf.encoder !== undefined) return 'the vector of a text, see below'
  switch (leaf.kind) {
    case 'text':
      return `ids of the text's first ${leaf.size} words, then zeros; see below`
    case 'discrete':
      return `the index of the value, from 0 to ${leaf.counts[0] - 1}`
    case 'multiDiscrete':
      return `an index a component, from 0; values: ${leaf.counts.join(', ')}`
    case 'box':
      if (leaf.slots !== undefined)
        return `${leaf.slots} slots of ${leaf.shape[1]} numbers, one after another: 1 and the item's numbers, or zeros for an empty slot`
      return `numbers of the shape [${leaf.shape.join(', ')}], flat, in row-major order`
  }
}

function textNotes({ observation }: PolicySpec): string[] {
  const notes: string[] = []
  const hashed = observation.find(({ kind, encoder }) => kind === 'text' && encoder === undefined)
  if (hashed !== undefined) {
    notes.push(
      '',
      `**Texts.** \`tokenizer.mjs\` makes the ids: \`tokenize(text, { maxTokens: ${hashed.size}, vocabulary: ${hashed.counts[0]} })\`. It lower-cases the text (after NFKC, if it is not ASCII), takes runs of letters and digits as words, and hashes each: FNV-1a over its UTF-16 units, the finalizer of MurmurHash3, modulo the vocabulary less one, plus one.`,
    )
  }
  const encoded = observation.find(({ encoder }) => encoder !== undefined)?.encoder
  if (encoded !== undefined) {
    notes.push(
      '',
      `**Vectors of texts.** \`${encoded.name}.onnx\` is the sentence encoder and \`${encoded.name}-vocabulary.txt\` its word pieces (BERT, uncased). Take the text's first ${encoded.max_tokens - 2} word pieces between \`[CLS]\` and \`[SEP]\`, run the encoder on each text by itself, take the mean of \`last_hidden_state\` over all pieces and divide it by its Euclidean norm.`,
    )
  }
  return notes
}

function outputRows(leaf: ActionLeaf, { head }: PolicySpec): string[] {
  if (leaf.fixed !== undefined) return []
  const names = actionOutputNames(leaf)
  if ('mean' in names) {
    const deviation = head === 'squashed_gaussian' ? 'of the observation' : 'the same for every observation'
    return [
      `| \`${names.mean}\` | [batch, ${leaf.size}] | means, in the action's own units |`,
      `| \`${names.logStd}\` | [batch, ${leaf.size}] | log standard deviations, ${deviation} |`,
    ]
  }
  const columns = leaf.counts.reduce((a, b) => a + b, 0)
  const what = head === 'q' || head === 'dueling_q' ? 'values of the choices' : 'unnormalized log-probabilities'
  return [
    `| \`${names.logits}\` | [batch, ${columns}] | ${what}${leaf.counts.length > 1 ? `, of each component one after another (${leaf.counts.join(', ')})` : ''} |`,
  ]
}

function actionNotes(leaf: ActionLeaf, { action, observation }: PolicySpec): string[] {
  const name = action.length === 1 ? 'The action' : `\`${leaf.name}\``
  if (leaf.fixed !== undefined) return [`- ${name} is always ${leaf.fixed.join(', ')}: it was not trained.`]
  const counts = leaf.when === undefined ? '' : ' It counts only where its tool is chosen.'
  if (leaf.kind === 'box') return [`- ${name}: ${boxAction(leaf)}${counts}`]
  const list = leaf.pointer && observation[leaf.pointer.leaf].name
  const chosen = list === undefined ? 'the index' : `the slot of \`${list}\`, which must be filled: the index`
  const components = leaf.counts.length > 1 ? ', of each component' : ''
  const start = leaf.start === 0 ? '' : `, plus ${leaf.start}`
  const [output] = Object.values(actionOutputNames(leaf))
  return [`- ${name}: ${chosen} of the largest \`${output}\`${components}${start}.${counts}`]
}

/** The scenario's words for the indices. */
function choiceNames(space: SpaceDescription, path = 'action'): string[] {
  if (space.type === 'dict') {
    return space.entries.flatMap(({ name, space: inner }) =>
      choiceNames(inner, path === 'action' ? name : `${path}.${name}`),
    )
  }
  if (space.type !== 'discrete' || space.labels === undefined) return []
  const words = space.labels.map((label, index) => `${index} ${escapeMarkdown(label)}`)
  return ['', `Choices of \`${path}\` by index: ${words.join(', ')}.`]
}

function boxAction({ squash, low, high }: ActionLeaf): string {
  const sampling =
    squash === undefined ? '' : ' Its Gaussian lies before a squashing: sample it with the agent library.'
  return `the mean, clipped to ${JSON.stringify(low)} and ${JSON.stringify(high)} (null: no bound).${sampling}`
}
