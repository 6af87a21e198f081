/** The record of an agent version's verification: how one starts, and how it is shown. */
export {
  describeVerification,
  enqueueVerification,
  latestVerification,
  startVerification,
  type VerificationRow,
  verificationOf,
} from './verification-records.ts'
