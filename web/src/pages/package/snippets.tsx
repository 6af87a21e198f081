import type { AgentCard } from '@agentgym/contract'
import { policyOutputs } from '@agentgym/contract/model'
import { Command } from '../../components/command.tsx'
import { usePage } from '../../layout/page-context.ts'

type Snippet = { title: string; text: string }

/** How to run an agent from one's own program, to be pasted as it stands. */
export function Snippets({ name, agent }: { name: string; agent: AgentCard }) {
  const { host } = usePage()
  return (
    <section class="package-section" aria-labelledby="use">
      <h2 id="use">Use it</h2>
      <p class="dim">
        The agent is a package with an ONNX model in it: it runs where you install it, and asks no server. This server
        does not host agents, so there is no address yet for an OpenAI client or an MCP client to call.
      </p>
      {agentSnippets(name, agent, host.publicUrl).map(({ title, text }) => (
        <div>
          <h3 class="package-label">{title}</h3>
          <Command text={text} label={`Copy: ${title}`} />
        </div>
      ))}
    </section>
  )
}

/** Exported for its test, which runs them. */
export function agentSnippets(name: string, { policy }: AgentCard, server: string): Snippet[] {
  const [scope] = name.split('/')
  const model = `node_modules/${name}/model.onnx`
  const inputs = policy.observation
  const [output] = policyOutputs(policy).keys()
  const choice = policy.action.length === 1 && policy.action[0].kind === 'discrete' ? policy.action[0] : null
  return [
    { title: 'Install with npm', text: `npm install ${name} --${scope}:registry=${server}/npm/` },
    {
      title: 'Node.js (npm install onnxruntime-node)',
      text: [
        `import { InferenceSession, Tensor } from 'onnxruntime-node'`,
        '',
        `const model = await InferenceSession.create('${model}')`,
        'const observation = {',
        ...inputs.map(
          ({ name: input, size }) => `  ${key(input)}: new Tensor('float32', new Float32Array(${size}), [1, ${size}]),`,
        ),
        '}',
        `const output = await model.run(observation)`,
        choice === null
          ? `console.log(output)`
          : `const scores = Array.from(output[${quote(output)}].data)\nconst action = ${shift(choice.start)}scores.indexOf(Math.max(...scores))`,
      ].join('\n'),
    },
    {
      title: 'Python (pip install onnxruntime numpy): a function that agent frameworks take as a tool',
      text: [
        'import numpy',
        'import onnxruntime',
        '',
        `model = onnxruntime.InferenceSession("${model}")`,
        '',
        `def act(${inputs.map(({ name: input }) => `${variable(input)}: list[float]`).join(', ')}) -> ${choice === null ? 'dict' : 'int'}:`,
        `    """What ${name} does upon an observation."""`,
        '    seen = {',
        ...inputs.map(
          ({ name: input, size }) =>
            `        ${quote(input)}: numpy.array(${variable(input)}, "float32").reshape(1, ${size}),`,
        ),
        '    }',
        choice === null
          ? '    return {output.name: value for output, value in zip(model.get_outputs(), model.run(None, seen))}'
          : `    (scores,) = model.run([${quote(output)}], seen)\n    return ${shift(choice.start)}int(scores.argmax())`,
      ].join('\n'),
    },
  ]
}

/** Names come out of a stranger's package: strings are written as JSON, and identifiers made of letters alone. */
const quote = (text: string) => JSON.stringify(text)
const key = (text: string) => (/^[a-z]\w*$/i.test(text) ? text : quote(text))
const variable = (text: string) => text.replace(/\W+/g, '_').replace(/^(?=\d|$)/, 'x')
const shift = (start: number) => (start === 0 ? '' : `${start} + `)
