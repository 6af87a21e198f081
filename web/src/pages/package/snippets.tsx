import { type AgentCard, exampleObservation, type JsonObservation, type SpaceLeaf } from '@agentgym/contract'
import { policyOutputs } from '@agentgym/contract/model'
import { toolNames } from '@agentgym/contract/protocols'
import { Command } from '../../components/controls.tsx'
import { TabPanels } from '../../components/tab-panels.tsx'
import { usePage } from '../../layout/page-context.ts'
import { tryAddress } from './package-frame.tsx'

type SnippetsProps = { name: string; version: string; agent: AgentCard }

/** How to call the hosted agent, and how to run it locally. */
export function Snippets({ name, version, agent }: SnippetsProps) {
  const { host } = usePage()
  const { observation, action } = agent.spaces
  const hosted = { name, version, server: host.publicUrl, observation, action, mask: agent.whole_mask }
  return (
    <>
      <section class="package-section" aria-labelledby="call">
        <h2 id="call">Call the hosted agent</h2>
        <p class="dim">
          <a href={tryAddress(name)}>Try it here</a>, or call it from code with a <a href="/settings/tokens">token</a>{' '}
          with the scope <code>agents:call</code> in <code>AGENTGYM_TOKEN</code>. Works with any OpenAI-compatible
          client, and as a tool of MCP. For paid calls, set a{' '}
          <a href="/settings/spending">maximum price for 1,000 calls</a>, or send it in the header{' '}
          <code>AgentGym-Max-Price</code>.
        </p>
        <LanguageTabs
          group="call"
          snippets={[...hostedSnippets(hosted), ...(agent.policy.memory ? [] : [mcpEndpoint(hosted)])]}
        />
      </section>
      <section class="package-section" aria-labelledby="use">
        <h2 id="use">Run locally</h2>
        <p class="dim">The package contains an ONNX model. Runs locally. No server needed.</p>
        <LanguageTabs group="use" snippets={agentSnippets(name, agent, host.publicUrl)} />
      </section>
    </>
  )
}

/** One snippet at a time. `group` names their radio buttons. */
function LanguageTabs({ group, snippets }: { group: string; snippets: Snippet[] }) {
  const panels = snippets.map(({ tab, title, text }) => ({
    tab,
    body: (
      <>
        <h3 class="package-label">{title}</h3>
        <Command text={text} label={`Copy: ${title}`} />
      </>
    ),
  }))
  return <TabPanels group={group} legend="Language or framework" panels={panels} />
}

/** `tab`: its language or framework, in a word. */
type Snippet = { tab: string; title: string; text: string }
type Reading = {
  name: string
  model: string
  inputs: { input: string; size: number }[]
  output: string
  /** For discrete actions: the value of index 0. */
  start: number | null
}

/** Code that runs an agent locally, ready to paste. */
export function agentSnippets(name: string, agent: AgentCard, server: string): Snippet[] {
  const { policy } = agent
  const [scope] = name.split('/')
  const [output] = policyOutputs(policy).keys()
  const [choice] = policy.action
  const reading: Reading = {
    name,
    model: `node_modules/${name}/model.onnx`,
    inputs: policy.observation.map(({ name: input, size }) => ({ input, size })),
    output,
    start: policy.action.length === 1 && choice.kind === 'discrete' ? choice.start : null,
  }
  return [
    { tab: 'npm', title: 'Install with npm', text: `npm install ${name} --${scope}:registry=${server}/npm/` },
    { tab: 'Node.js', title: 'Node.js (npm install onnxruntime-node)', text: nodeText(reading) },
    { tab: 'Python', title: 'Python, as agent.py (pip install agentgym)', text: pythonText(name, agent, server) },
    {
      tab: 'LangChain',
      title: 'LangChain tool (pip install langchain-core)',
      text: 'from langchain_core.tools import tool\nfrom agent import act\n\nact_tool = tool(act)',
    },
    {
      tab: 'AutoGen',
      title: 'AutoGen tool (pip install autogen-core)',
      text: 'from autogen_core.tools import FunctionTool\nfrom agent import act\n\nact_tool = FunctionTool(act, description=act.__doc__)',
    },
    {
      tab: 'CrewAI',
      title: 'CrewAI tool (pip install crewai)',
      text: 'from crewai.tools import tool\nfrom agent import act\n\nact_tool = tool("act")(act)',
    },
    {
      tab: 'MCP',
      title: 'MCP server (mcpServers of Claude, Cursor and others)',
      text: mcpText(name, server),
    },
  ]
}

/** The configuration of a client of MCP that reads the token from the environment. */
function mcpEndpoint({ name, server }: Pick<Hosted, 'name' | 'server'>): Snippet {
  const [, unscoped] = name.split('/')
  const headers = { Authorization: `Bearer \${AGENTGYM_TOKEN}` }
  const entry = { type: 'http', url: `${server}/mcp/${name}`, headers }
  return {
    tab: 'MCP',
    title: 'MCP endpoint (mcpServers of Claude Code and others)',
    text: JSON.stringify({ mcpServers: { [unscoped]: entry } }, null, 2),
  }
}

/** The configuration that clients of MCP have in common: it starts the command, which loads the agent. */
function mcpText(name: string, server: string): string {
  const [, unscoped] = name.split('/')
  const entry = { command: 'agentgym', args: ['agent', 'mcp', name], env: { AGENTGYM_SERVER: server } }
  return JSON.stringify({ mcpServers: { [unscoped]: entry } }, null, 2)
}

function nodeText({ model, inputs, output, start }: Reading): string {
  return [
    `import { InferenceSession, Tensor } from 'onnxruntime-node'`,
    '',
    '// The format that the server has checked: a file can be read as two.',
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

function pythonText(name: string, { spaces, whole_mask: mask }: AgentCard, server: string): string {
  const observation = `observation: ${pythonType(spaces.observation)}`
  const legal = mask === undefined ? null : `mask: ${Array.isArray(mask) ? 'list' : 'dict'}`
  return [
    'import agentgym',
    '',
    `agent = agentgym.load(${quote(name)}, server=${quote(server)})`,
    '',
    `def act(${legal === null ? observation : `${observation}, ${legal}`}) -> ${pythonType(spaces.action)}:`,
    `    """What ${name} does upon an observation${legal === null ? '' : ', of what the mask says is legal'}."""`,
    `    return agent.act(observation${legal === null ? '' : ', mask=mask'}).action`,
  ].join('\n')
}

/** The type of a sample of a space with these leaves. */
function pythonType([leaf, ...more]: readonly SpaceLeaf[]): string {
  if (leaf === undefined || more.length > 0 || leaf.path.length > 0) return 'dict'
  if (leaf.kind === 'box') return leaf.shape.length === 1 ? 'list[float]' : leaf.shape.length === 0 ? 'float' : 'list'
  return { discrete: 'int', multiDiscrete: 'list[int]', text: 'str', list: 'list[dict]' }[leaf.kind]
}

/** Input names are untrusted. JSON strings are valid in JavaScript and Python. */
const quote = (text: string) => JSON.stringify(text)
/** In an object literal, this name would set the prototype. */
const property = (name: string) => (name === '__proto__' ? `[${quote(name)}]` : quote(name))
const shift = (start: number) => (start === 0 ? '' : `${start} + `)

type Hosted = {
  name: string
  version: string
  server: string
  observation: readonly SpaceLeaf[]
  action: readonly SpaceLeaf[]
  /** Of an agent that must be told what is legal: the mask in which everything is. */
  mask?: AgentCard['whole_mask']
}

/** Longer lists are written as repeated zeros, to keep snippets readable. */
const longestList = 32

/** Code that calls the hosted agent with OpenAI clients, ready to paste. */
export function hostedSnippets(hosted: Hosted): Snippet[] {
  const { name, version, server, observation: leaves, action, mask } = hosted
  if (mask !== undefined) {
    const words = (action.find(({ path }) => path.length === 0 || path[0] === 'tool')?.labels ?? []).slice(0, mostWords)
    return words.length > 1 ? decisionSnippets(hosted, words) : callSnippets(hosted)
  }
  const model = JSON.stringify(`${name}@${version}`)
  const address = JSON.stringify(`${server}/v1`)
  const observation = exampleObservation(leaves, null)
  return [
    {
      tab: 'Python',
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
      tab: 'JavaScript',
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
      tab: 'LangChain',
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

/** A question has at most so many choices. */
const mostWords = 255

/** Of an agent that must be told what is legal, and has words for it. */
function decisionSnippets({ name, version, server, observation: leaves }: Hosted, words: string[]): Snippet[] {
  const model = JSON.stringify(`${name}@${version}`)
  const address = JSON.stringify(`${server}/v1`)
  const observation = exampleObservation(leaves, null)
  const legal = JSON.stringify(words)
  return [
    {
      tab: 'Python',
      title: 'OpenAI client in Python (pip install openai)',
      text: [
        'import json',
        'import os',
        '',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${address}, api_key=os.environ["AGENTGYM_TOKEN"])`,
        `observation = ${literal(observation, python)}`,
        `legal = ${legal}`,
        'choices = [{"value": word} for word in legal]',
        'answer = client.decisions.create(',
        `    model=${model},`,
        '    input=json.dumps(observation),',
        '    questions=[{"type": "choice", "name": "next", "instructions": "What is next?", "choices": choices}],',
        ')',
        'print(answer.answers[0].choice)',
      ].join('\n'),
    },
    {
      tab: 'JavaScript',
      title: 'OpenAI client in JavaScript (npm install openai)',
      text: [
        `import OpenAI from 'openai'`,
        '',
        `const client = new OpenAI({ baseURL: ${address}, apiKey: process.env.AGENTGYM_TOKEN })`,
        `const observation = ${literal(observation, javaScript)}`,
        `const legal = ${legal}`,
        'const choices = legal.map((value) => ({ value }))',
        'const { answers } = await client.decisions.create({',
        `  model: ${model},`,
        '  input: JSON.stringify(observation),',
        `  questions: [{ type: 'choice', name: 'next', instructions: 'What is next?', choices }],`,
        '})',
        'console.log(answers[0].choice)',
      ].join('\n'),
    },
    {
      tab: 'LangChain',
      title: 'LangChain model (pip install langchain-openai)',
      text: [
        'import json',
        'import os',
        '',
        'from langchain_openai import ChatOpenAI',
        '',
        `agent = ChatOpenAI(base_url=${address}, api_key=os.environ["AGENTGYM_TOKEN"], model=${model})`,
        `observation = ${literal(observation, python)}`,
        `legal = ${JSON.stringify([...toolNames(words).keys()])}`,
        'tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in legal]',
        'answer = agent.bind_tools(tools).invoke(json.dumps(observation))',
        'print(answer.tool_calls[0]["name"])',
      ].join('\n'),
    },
  ]
}

/** Of an agent that must be told what is legal, and has no words for it. */
function callSnippets({ name, version, server, observation: leaves, mask }: Hosted): Snippet[] {
  const address = JSON.stringify(`${server}/v1/packages/${name}/calls`)
  const observation = exampleObservation(leaves, null)
  return [
    {
      tab: 'JavaScript',
      title: 'HTTP in JavaScript',
      text: [
        `const observation = ${literal(observation, javaScript)}`,
        `const action_mask = ${JSON.stringify(mask)}`,
        `const headers = { authorization: \`Bearer \${process.env.AGENTGYM_TOKEN}\`, 'content-type': 'application/json' }`,
        `const body = JSON.stringify({ version: ${JSON.stringify(version)}, observation, action_mask })`,
        `const answer = await fetch(${address}, { method: 'POST', headers, body })`,
        'console.log((await answer.json()).action)',
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
function literal(value: JsonObservation, language: Language): string {
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
