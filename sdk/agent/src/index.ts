export { Acting } from './acting.ts'
