import type { AgentCard, SpaceLeaf } from '@agentgym/contract'
import { policyOutputs } from '@agentgym/contract/model'
import { Command } from '../../components/controls.tsx'
import { usePage } from '../../layout/page-context.ts'
import { tryAddress } from './package-frame.tsx'
import { exampleObservation, type Observation } from './trial-fields.ts'

type SnippetsProps = { name: string; version: string; agent: AgentCard }

/** How to call the hosted agent, and how to run it locally. */
export function Snippets({ name, version, agent }: SnippetsProps) {
  const { host } = usePage()
  const { observation } = agent.spaces
  return (
    <>
      <section class="package-section" aria-labelledby="call">
        <h2 id="call">Call the hosted agent</h2>
        <p class="dim">
          <a href={tryAddress(name)}>Try it here</a>, or call it from code with a <a href="/settings/tokens">token</a>{' '}
          with the scope <code>agents:call</code> in <code>AGENTGYM_TOKEN</code>. Works with any OpenAI-compatible
          client. Where calls cost something, set a <a href="/settings/spending">limit for the price of 1,000 calls</a>,
          or send it as the header <code>AgentGym-Max-Price</code>.
        </p>
        <Listed snippets={hostedSnippets({ name, version, server: host.publicUrl, observation })} />
      </section>
      <section class="package-section" aria-labelledby="use">
        <h2 id="use">Run locally</h2>
        <p class="dim">The package contains an ONNX model. Runs locally. No server needed.</p>
        <Listed snippets={agentSnippets(name, agent, host.publicUrl)} />
      </section>
    </>
  )
}

function Listed({ snippets }: { snippets: { title: string; text: string }[] }) {
  return snippets.map(({ title, text }) => (
    <div>
      <h3 class="package-label">{title}</h3>
      <Command text={text} label={`Copy: ${title}`} />
    </div>
  ))
}

type Snippet = { title: string; text: string }
type Reading = {
  name: string
  model: string
  inputs: { input: string; variable: string; size: number }[]
  output: string
  /** For discrete actions: the value of index 0. */
  start: number | null
}

/** Code that runs an agent locally, ready to paste. */
export function agentSnippets(name: string, { policy }: AgentCard, server: string): Snippet[] {
  const [scope] = name.split('/')
  const [output] = policyOutputs(policy).keys()
  const [choice] = policy.action
  const reading: Reading = {
    name,
    model: `node_modules/${name}/model.onnx`,
    inputs: policy.observation.map(({ name: input, size }, index, all) => {
      const variable = identifier(input)
      const clashes = all.some((other, at) => at < index && identifier(other.name) === variable)
      return { input, size, variable: clashes ? `${variable}_${index}` : variable }
    }),
    output,
    start: policy.action.length === 1 && choice.kind === 'discrete' ? choice.start : null,
  }
  return [
    { title: 'Install with npm', text: `npm install ${name} --${scope}:registry=${server}/npm/` },
    { title: 'Node.js (npm install onnxruntime-node)', text: nodeText(reading) },
    { title: 'Python, as agent.py (pip install onnxruntime numpy)', text: pythonText(reading) },
    {
      title: 'LangChain tool (pip install langchain-core)',
      text: 'from langchain_core.tools import tool\nfrom agent import act\n\nact_tool = tool(act)',
    },
    {
      title: 'AutoGen tool (pip install autogen-core)',
      text: 'from autogen_core.tools import FunctionTool\nfrom agent import act\n\nact_tool = FunctionTool(act, description=act.__doc__)',
    },
    {
      title: 'CrewAI tool (pip install crewai)',
      text: 'from crewai.tools import tool\nfrom agent import act\n\nact_tool = tool("act")(act)',
    },
    {
      title: 'MCP server (pip install "mcp<2")',
      text: `from mcp.server.fastmcp import FastMCP\nfrom agent import act\n\nserver = FastMCP(${quote(name)})\nserver.tool()(act)\nserver.run()`,
    },
  ]
}

const asOnnx = (comment: string) => [`${comment} The format that the server has checked: a file can be read as two.`]

function nodeText({ model, inputs, output, start }: Reading): string {
  return [
    `import { InferenceSession, Tensor } from 'onnxruntime-node'`,
    '',
    ...asOnnx('//'),
    `const options = { extra: { session: { load_model_format: 'ONNX' } } }`,
    `const model = await InferenceSession.create(${quote(model)}, options)`,
    'const observation = {',
    ...inputs.map(
      ({ input, size }) => `  ${property(input)}: new Tensor('float32', new Float32Array(${size}), [1, ${size}]),`,
    ),
    '}',
    'const output = await model.run(observation)',
    ...(start === null
      ? ['console.log(output)']
      : [
          `const scores = Array.from(output[${quote(output)}].data)`,
          `const action = ${shift(start)}scores.indexOf(Math.max(...scores))`,
          'console.log(action)',
        ]),
  ].join('\n')
}

function pythonText({ name, model, inputs, output, start }: Reading): string {
  const parameters = inputs.map(({ variable }) => `${variable}: list[float]`).join(', ')
  return [
    'import numpy',
    'import onnxruntime',
    '',
    ...asOnnx('#'),
    'options = onnxruntime.SessionOptions()',
    'options.add_session_config_entry("session.load_model_format", "ONNX")',
    `model = onnxruntime.InferenceSession(${quote(model)}, options)`,
    '',
    `def act(${parameters}) -> ${start === null ? 'dict' : 'int'}:`,
    `    """What ${name} does upon an observation."""`,
    '    seen = {',
    ...inputs.map(
      ({ input, variable, size }) =>
        `        ${quote(input)}: numpy.array(${variable}, "float32").reshape(1, ${size}),`,
    ),
    '    }',
    ...(start === null
      ? [
          '    named = zip(model.get_outputs(), model.run(None, seen))',
          '    return {output.name: value.tolist() for output, value in named}',
        ]
      : [`    (scores,) = model.run([${quote(output)}], seen)`, `    return ${shift(start)}int(scores.argmax())`]),
  ].join('\n')
}

/** Input names are untrusted. JSON strings are valid in JavaScript and Python. */
const quote = (text: string) => JSON.stringify(text)
/** In an object literal, this name would set the prototype. */
const property = (name: string) => (name === '__proto__' ? `[${quote(name)}]` : quote(name))
/** Python keywords, and names used by the snippet. */
const taken = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield act dict float int list model named numpy onnxruntime options output scores seen value zip'.split(
    ' ',
  ),
)
function identifier(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^(?=\d|$)/, 'x')
  return taken.has(name) ? `${name}_` : name
}
const shift = (start: number) => (start === 0 ? '' : `${start} + `)

type Hosted = { name: string; version: string; server: string; observation: readonly SpaceLeaf[] }

/** Longer lists are written as repeated zeros, to keep snippets readable. */
const longestList = 32

/** Code that calls the hosted agent with OpenAI clients, ready to paste. */
export function hostedSnippets({ name, version, server, observation: leaves }: Hosted): Snippet[] {
  const model = JSON.stringify(`${name}@${version}`)
  const address = JSON.stringify(`${server}/v1`)
  const observation = exampleObservation(leaves, null)
  return [
    {
      title: 'OpenAI client in Python (pip install openai)',
      text: [
        'import json',
        'import os',
        '',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${address}, api_key=os.environ["AGENTGYM_TOKEN"])`,
        `observation = ${literal(observation, python)}`,
        'answer = client.chat.completions.create(',
        `    model=${model},`,
        '    messages=[{"role": "user", "content": json.dumps(observation)}],',
        ')',
        'print(json.loads(answer.choices[0].message.content)["action"])',
      ].join('\n'),
    },
    {
      title: 'OpenAI client in JavaScript (npm install openai)',
      text: [
        `import OpenAI from 'openai'`,
        '',
        `const client = new OpenAI({ baseURL: ${address}, apiKey: process.env.AGENTGYM_TOKEN })`,
        `const observation = ${literal(observation, javaScript)}`,
        'const answer = await client.chat.completions.create({',
        `  model: ${model},`,
        `  messages: [{ role: 'user', content: JSON.stringify(observation) }],`,
        '})',
        'console.log(JSON.parse(answer.choices[0].message.content).action)',
      ].join('\n'),
    },
    {
      title: 'LangChain model (pip install langchain-openai)',
      text: [
        'import json',
        'import os',
        '',
        'from langchain_openai import ChatOpenAI',
        '',
        `agent = ChatOpenAI(base_url=${address}, api_key=os.environ["AGENTGYM_TOKEN"], model=${model})`,
        `observation = ${literal(observation, python)}`,
        'answer = agent.invoke(json.dumps(observation))',
        'print(json.loads(answer.content)["action"])',
      ].join('\n'),
    },
  ]
}

type Language = { zeros(count: number): string; key(name: string): string }
const python: Language = { zeros: (count) => `[0] * ${count}`, key: (name) => JSON.stringify(name) }
const javaScript: Language = {
  zeros: (count) => `Array(${count}).fill(0)`,
  // Without brackets, it would set the object's prototype.
  key: (name) => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)),
}

/** A value as a literal of the language. Strings and numbers are written as in JSON. */
function literal(value: Observation, language: Language): string {
  if (Array.isArray(value)) {
    if (value.length > longestList) return language.zeros(value.length)
    return `[${value.map((inner) => literal(inner, language)).join(', ')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => `${language.key(name)}: ${literal(inner, language)}`)
    return `{${entries.join(', ')}}`
  }
  return JSON.stringify(value)
}
