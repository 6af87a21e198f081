import { loops } from './attacks/loops.ts'
import { testAttacks } from './run-attacks.ts'

testAttacks('hostile scenarios: loops', loops)
