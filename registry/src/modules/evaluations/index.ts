/** Verifications of agent versions: starting and showing them. */
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
