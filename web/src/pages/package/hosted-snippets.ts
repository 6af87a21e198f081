import type { SpaceLeaf } from '@agentgym/contract'
import { exampleObservation, type Observation } from './trial-fields.ts'

type Snippet = { title: string; text: string }
type Hosted = { name: string; version: string; server: string; observation: readonly SpaceLeaf[] }

/** Longer lists are written as so many nothings: what is pasted stays readable. */
const longestList = 32

/** How to call an agent that this server runs, by OpenAI's clients, each to be pasted as it stands. */
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
  // Without the brackets it is the prototype of the object.
  key: (name) => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)),
}

/** As it is written in that language; strings and numbers are those of JSON in both. */
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
