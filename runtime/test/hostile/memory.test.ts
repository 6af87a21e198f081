import { memoryBombs } from './attacks/memory.ts'
import { testAttacks } from './run-attacks.ts'

testAttacks('hostile scenarios: memory', memoryBombs)
