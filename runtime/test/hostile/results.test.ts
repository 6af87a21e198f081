import { badResults } from './attacks/results.ts'
import { testAttacks } from './run-attacks.ts'

testAttacks('hostile scenarios: results', badResults)
