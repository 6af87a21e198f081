/** Reads a log as `scenario from-traces` does, and prints what it found and the most memory that it took. */
import { assembleEpisodes, noCounts } from '../src/traces/assemble-episodes.ts'
import { jsonValues } from '../src/traces/json-values.ts'
import { PersonalData } from '../src/traces/personal-data.ts'
import { LogCollector } from '../src/traces/summarize-log.ts'

const collector = new LogCollector(new PersonalData())
for await (const episode of assembleEpisodes(jsonValues(process.argv[2]), noCounts())) collector.add(episode)
const { requests } = collector.summary('solved', 0.5)
const { maxRSS } = process.resourceUsage()
console.log(JSON.stringify({ episodes: collector.episodes, requests: requests.length, megabytes: maxRSS / 1024 }))
