/** The record of an agent version's verification: how one starts, and how it is shown. */
export { listSeasons, turnSeason } from './seasons.ts'
export {
  describeVerification,
  enqueueVerification,
  latestVerification,
  startVerification,
  type VerificationRow,
  type VerificationServices,
  verificationEpisodes,
  verificationOf,
} from './verification-records.ts'
