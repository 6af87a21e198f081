import { reaches } from './attacks/reach.ts'
import { testAttacks } from './run-attacks.ts'

testAttacks('hostile scenarios: reach', reaches)
