export * from './orders.ts'
export * from './payments.ts'
export * from './prices.ts'
export * from './reviews.ts'
