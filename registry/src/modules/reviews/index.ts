/** Reviews and ratings. */
export { dropLostVotes, lockRating, writeRating } from './ratings.ts'
export { reviewsModule } from './reviews.module.ts'
export { findHiddenReview, findReview, reviewNotFound } from './reviews.store.ts'
